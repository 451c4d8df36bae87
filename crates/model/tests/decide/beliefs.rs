//! Invariants over random answers of AWS: what is referenced is not dropped without proof, and nothing is owned without.

use super::*;

/// What AWS answers next, whatever it is asked.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Absent,
    Present,
    Differs,
    Refused,
    Throttled,
    Lost,
    Running,
    Named,
    Success,
    Failed(&'static str),
    FailedNamed(&'static str),
    Holds,
    TokenUnknown,
}

fn answers() -> impl Strategy<Value = Answer> {
    let codes = || {
        prop_oneof![
            Just("GeneralServiceException"),
            Just("InternalFailure"),
            Just("NotFound"),
            Just("ServiceTimeout"),
            Just("Throttling"),
            Just("AlreadyExists")
        ]
    };
    prop_oneof![
        8 => Just(Answer::Absent),
        2 => Just(Answer::Present),
        1 => Just(Answer::Differs),
        1 => Just(Answer::Refused),
        1 => Just(Answer::Throttled),
        2 => Just(Answer::Lost),
        1 => Just(Answer::Running),
        1 => Just(Answer::Named),
        3 => Just(Answer::Success),
        2 => codes().prop_map(Answer::Failed),
        1 => codes().prop_map(Answer::FailedNamed),
        1 => Just(Answer::Holds),
        1 => Just(Answer::TokenUnknown),
    ]
}

impl Answer {
    fn presence(self, subject: &Identifier) -> Presence {
        match self {
            Answer::Present | Answer::Success => present_as(subject.as_str(), "d"),
            Answer::Differs | Answer::Named => present_as(subject.as_str(), "e"),
            Answer::Refused => Presence::Unknown(denied()),
            Answer::Throttled | Answer::Lost => Presence::Unknown(throttled()),
            Answer::Absent
            | Answer::Running
            | Answer::Failed(_)
            | Answer::FailedNamed(_)
            | Answer::Holds
            | Answer::TokenUnknown => Presence::Absent,
        }
    }

    /// The plan of a put or delete against what was found.
    fn plan(self, operation: &Operation, presence: &Presence) -> PlanOutcome {
        match (presence, operation.deletes()) {
            (Presence::Present { identifier, .. }, true) => PlanOutcome::Delete(identifier.clone()),
            (Presence::Absent, true) => PlanOutcome::Nothing,
            (Presence::Absent, false) => create(),
            (Presence::Present { identifier, .. }, false) => match self {
                Answer::Differs => PlanOutcome::Update {
                    identifier: identifier.clone(),
                    changes: vec![Change {
                        path: "/CidrBlock".to_owned(),
                        op: "replace".to_owned(),
                        conditional: false,
                    }],
                },
                Answer::Named if operation.was_referenced && operation.replacing.is_none() => {
                    PlanOutcome::Replace {
                        old: identifier.clone(),
                        order: ReplacementOrder::CreateBeforeDelete,
                        identifier: None,
                        changes: Vec::new(),
                    }
                }
                _ => PlanOutcome::Nothing,
            },
            (Presence::Unreadable(_) | Presence::Unknown(_), _) => {
                PlanOutcome::Impossible(Failure::from(&denied()))
            }
        }
    }

    fn reply(self) -> Result<Progress, Fault> {
        let new = Some("vpc-2");
        match self {
            Answer::Absent => Err(Fault::new(FaultClass::Missing, "NotFound", "gone")),
            Answer::Refused => Err(rejected()),
            Answer::Throttled => Err(throttled()),
            Answer::Lost => Err(lost()),
            Answer::TokenUnknown => Err(Fault::new(FaultClass::TokenUnknown, "", "")),
            Answer::Running | Answer::Holds => Ok(progress(ProgressStatus::Running, None)),
            Answer::Named => Ok(progress(ProgressStatus::Running, new)),
            Answer::Present | Answer::Differs | Answer::Success => {
                Ok(progress(ProgressStatus::Success, new))
            }
            Answer::Failed(code) => Ok(progress(failed(code), None)),
            Answer::FailedNamed(code) => Ok(progress(failed(code), new)),
        }
    }
}

/// What the test itself has seen, by which it judges what the state machine believes.
#[derive(Debug, Default)]
struct Witness {
    /// Answers in a row that a resource does not exist, by identifier, and when it was last shown.
    missed: std::collections::BTreeMap<String, u32>,
    seen_at: std::collections::BTreeMap<String, Timestamp>,
    is_listed: bool,
    /// Whether AWS has confirmed a delete.
    deleted: std::collections::BTreeSet<String>,
    /// What AWS has named in events of a create, or reported as created; and when one that failed named it.
    named: bool,
    failed_at: Option<Timestamp>,
    says_exists: bool,
    /// When a create failed that named nothing, and how many searches have found nothing since; until one has found it.
    hidden_at: Option<(Timestamp, u32)>,
    unsearchable: bool,
}

impl Witness {
    fn note(&mut self, operation: &Operation, observation: &Observation, now: Timestamp) {
        let subject = operation.subject().map(|it| it.as_str().to_owned());
        match (observation, subject) {
            (Observation::Looked(presence, _) | Observation::Read(presence), Some(subject)) => {
                match presence {
                    Presence::Present { .. } => {
                        self.missed.remove(&subject);
                        self.seen_at.insert(subject, now);
                        self.is_listed = false;
                    }
                    Presence::Absent => *self.missed.entry(subject).or_default() += 1,
                    Presence::Unreadable(_) | Presence::Unknown(_) => {}
                }
            }
            (Observation::Searched(Search::Found(_)), _) => {
                self.named = true;
                self.failed_at = Some(now);
                self.hidden_at = None;
            }
            (Observation::Searched(Search::Lacks { .. }), _) => {
                self.hidden_at = self.hidden_at.map(|(at, searches)| (at, searches + 1));
            }
            (Observation::Searched(Search::Unsearchable), _) => self.unsearchable = true,
            (Observation::Listed(Listing::Holds), _) => self.is_listed = true,
            (Observation::Listed(_), _) => self.is_listed = false,
            (
                Observation::Submitted(reply)
                | Observation::Polled(reply)
                | Observation::CancelAsked(reply),
                _,
            ) => {
                self.note_reply(operation, reply, now);
            }
            _ => {}
        }
    }

    fn note_reply(
        &mut self,
        operation: &Operation,
        reply: &Result<Progress, Fault>,
        now: Timestamp,
    ) {
        let (State::Submitting(intent) | State::Waiting(intent, _)) = &operation.state else {
            return;
        };
        match (&intent.call, reply) {
            (Call::Delete(identifier), Ok(progress)) => match &progress.status {
                ProgressStatus::Success => {
                    self.deleted.insert(identifier.as_str().to_owned());
                }
                ProgressStatus::Failed { code, .. } if *code == HandlerErrorCode::NotFound => {
                    *self
                        .missed
                        .entry(identifier.as_str().to_owned())
                        .or_default() += 1;
                }
                _ => {}
            },
            (Call::Delete(identifier), Err(fault)) if fault.class == FaultClass::Missing => {
                *self
                    .missed
                    .entry(identifier.as_str().to_owned())
                    .or_default() += 1;
            }
            (Call::Create, Ok(progress)) => {
                let is_success = progress.status == ProgressStatus::Success;
                self.named |= progress.identifier.is_some() || is_success;
                if let ProgressStatus::Failed { code, .. } = &progress.status {
                    self.says_exists |= *code == HandlerErrorCode::AlreadyExists;
                    self.failed_at = Some(now);
                    let is_named = operation.identifier.is_some() || progress.identifier.is_some();
                    self.hidden_at = (!is_named).then_some((now, 0));
                    self.unsearchable = false;
                }
            }
            _ => {}
        }
    }

    /// Whether the resource is known not to exist.
    fn is_gone(&self, identifier: &str, now: Timestamp) -> bool {
        let is_old = self
            .seen_at
            .get(identifier)
            .is_none_or(|seen| now.since(*seen) >= SETTLING_WINDOW);
        let missed = self.missed.get(identifier).copied().unwrap_or_default();
        self.deleted.contains(identifier) || missed >= 5 && is_old && !self.is_listed
    }
}

/// Runs an operation until it ends or the answers are used up.
fn run(
    mut operation: Operation,
    answers: Vec<(Answer, u64)>,
) -> Result<(), proptest::test_runner::TestCaseError> {
    let old = operation.identifier.clone();
    let old = old.filter(|_| operation.was_referenced);
    let (mut now, mut due_at) = (START, START);
    let mut witness = Witness::default();
    if let Some(old) = &old {
        witness.seen_at.insert(old.as_str().to_owned(), START);
    }
    let mut observation = Observation::Claimed;
    let mut number = 0;
    let mut answers = answers.into_iter();
    loop {
        number += 1;
        witness.note(&operation, &observation, now);
        let decision = decide(&operation, observation, now, chance(100 + number));
        let before = operation.clone();
        let mut ended = None;
        match decision.next {
            Next::Keep => {}
            Next::Move(moved) => {
                due_at = moved.due_at;
                operation = moved.of(&operation, now);
            }
            Next::Finish(finish) => {
                ended = Some(finish.reference);
                operation = finish.of(&operation, now);
            }
        }
        let stands_for = match ended {
            Some(ReferenceChange::Removed) => None,
            Some(_) => operation.identifier.clone(),
            None => operation
                .referenced()
                .map(|target| target.identifier.clone()),
        };
        // The end of a replacement has dropped it before, or names it.
        let is_replaced = matches!(
            before.replacing,
            Some(
                Replacing::NewFirst { .. } | Replacing::OldLast { .. } | Replacing::OldLeft { .. }
            )
        );
        if let Some(old) = &old
            && stands_for.as_ref() != Some(old)
            && !is_replaced
            && (before.replacing.is_some() || ended.is_some() || !witness.named)
        {
            prop_assert!(
                witness.is_gone(old.as_str(), now),
                "'{old}' is dropped: {before:?} → {operation:?}, {witness:?}"
            );
        }
        // Only searches tell that a create which named nothing made nothing.
        let token = |operation: &Operation| match &operation.state {
            State::Submitting(intent) if intent.action() == Action::Create => {
                Some(intent.client_token)
            }
            _ => None,
        };
        let creates_again = token(&operation).is_some() && token(&operation) != token(&before);
        if let Some((at, searches)) = witness.hidden_at
            && operation.marked
            && !witness.unsearchable
            && (ended.is_some() || creates_again)
        {
            prop_assert!(
                searches >= 3 && now.since(at) >= SETTLING_WINDOW,
                "what was made was not searched for: {before:?} → {operation:?}, {witness:?}"
            );
        }
        if creates_again && operation.identifier.is_none() {
            // What an earlier create named was proven not to exist, and says nothing about this one.
            witness.failed_at = None;
            witness.hidden_at = None;
            witness.named = false;
            witness.missed.remove("vpc-2");
        }
        if let Some(change) = ended {
            let owned = match change {
                ReferenceChange::Applied { owned } | ReferenceChange::Kept { owned } => owned,
                ReferenceChange::Made => true,
                ReferenceChange::Untouched
                | ReferenceChange::Unknown
                | ReferenceChange::Removed => false,
            };
            prop_assert!(
                !owned || witness.named,
                "owned without proof: {before:?} → {operation:?}"
            );
            // What somebody else may have is not looked for.
            let failed_at = witness
                .failed_at
                .filter(|_| witness.named && !witness.says_exists);
            if let Some(failed_at) = failed_at
                && change == ReferenceChange::Removed
                && before.kind == Kind::Put
            {
                let missed = witness.missed.get("vpc-2").copied().unwrap_or_default();
                prop_assert!(
                    missed >= 5 && now.since(failed_at) >= SETTLING_WINDOW,
                    "'vpc-2' was not looked for: {before:?} → {operation:?}, {witness:?}"
                );
            }
            return Ok(());
        }
        let mut answer = || answers.next();
        observation = match decision.effect {
            Some(Effect::Look(None)) => Observation::Looked(Presence::Absent, create()),
            Some(Effect::Look(Some(subject))) => {
                let Some((answer, _)) = answer() else {
                    return Ok(());
                };
                let presence = answer.presence(&subject);
                let plan = answer.plan(&operation, &presence);
                Observation::Looked(presence, plan)
            }
            Some(Effect::Read(Some(subject))) => {
                let Some((answer, _)) = answer() else {
                    return Ok(());
                };
                Observation::Read(answer.presence(&subject))
            }
            Some(Effect::Read(None)) => Observation::Read(Presence::Absent),
            Some(Effect::List(_)) => {
                let Some((answer, _)) = answer() else {
                    return Ok(());
                };
                Observation::Listed(match answer {
                    Answer::Holds => Listing::Holds,
                    Answer::Refused => Listing::Unknown(denied()),
                    Answer::Throttled => Listing::Unknown(throttled()),
                    _ => Listing::Lacks,
                })
            }
            Some(Effect::Search) => {
                let Some((answer, _)) = answer() else {
                    return Ok(());
                };
                Observation::Searched(match answer {
                    Answer::Present | Answer::Holds => Search::Found(name("vpc-2")),
                    Answer::Throttled => Search::Unknown(throttled()),
                    Answer::TokenUnknown => Search::Unsearchable,
                    _ => Search::Lacks { began_at: now },
                })
            }
            Some(Effect::Submit(_)) => {
                let Some((answer, _)) = answer() else {
                    return Ok(());
                };
                Observation::Submitted(answer.reply())
            }
            Some(Effect::Poll(_)) => {
                let Some((answer, _)) = answer() else {
                    return Ok(());
                };
                Observation::Polled(answer.reply())
            }
            Some(Effect::Cancel(_)) => {
                let Some((answer, _)) = answer() else {
                    return Ok(());
                };
                Observation::CancelAsked(answer.reply())
            }
            Some(effect) => panic!("unexpected {effect:?}"),
            None => {
                let Some((_, later)) = answer() else {
                    return Ok(());
                };
                now = now.max(due_at).after(Duration::from_millis(later));
                Observation::Claimed
            }
        };
    }
}

fn histories() -> impl Strategy<Value = Vec<(Answer, u64)>> {
    // Now and then longer than a client token lives.
    let later = prop_oneof![30 => 0u64..20_000, 1 => Just(200_000_000)];
    prop::collection::vec((answers(), later), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    /// An owned referenced identifier is never dropped without a proven absence or a confirmed delete.
    #[test]
    fn what_is_owned_is_not_dropped_without_proof(
        kind in prop_oneof![Just(Kind::Put), Just(Kind::Delete)],
        history in histories(),
    ) {
        let operation = Operation {
            was_owned: true,
            sightings: Sightings::since(Some(START)),
            ..referenced(operation(kind))
        };
        run(operation, history)?;
    }

    /// A reference never ends removed while AWS named a resource that was not looked for during the settling window.
    #[test]
    fn what_aws_named_is_looked_for_before_its_alias_is_freed(
        is_declared in any::<bool>(),
        history in histories(),
    ) {
        let declared = is_declared.then(|| name("vpc-2"));
        let put = Operation { identifier: declared, ..operation(Kind::Put) };
        run(put, history)?;
    }

    /// A create that failed without naming anything is made again, or given up, only after searches by its mark.
    #[test]
    fn what_a_create_did_not_name_is_searched_for(history in histories()) {
        let put = Operation { marked: true, ..operation(Kind::Put) };
        run(put, history)?;
    }
}
