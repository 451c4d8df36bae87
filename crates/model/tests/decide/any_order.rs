//! Invariants over random sequences of observations.

use super::*;

fn holders() -> impl Strategy<Value = Holder> {
    prop_oneof![
        Just(another_operation()),
        Just(another_owner()),
        Just(Holder::Policy(ucp_model::PlanPolicy::Required)),
    ]
}

fn ownerships() -> impl Strategy<Value = Ownership> {
    prop_oneof![
        Just(Ownership::Unmarked),
        Just(Ownership::Ours),
        Just(Ownership::Made),
        Just(Ownership::Others),
    ]
}

/// All observations, in a few variants each.
fn observations() -> impl Strategy<Value = Observation> {
    let fault = prop_oneof![
        Just(throttled()),
        Just(lost()),
        Just(denied()),
        Just(rejected()),
        Just(Fault::new(
            FaultClass::Missing,
            "ResourceNotFoundException",
            ""
        )),
        Just(Fault::new(
            FaultClass::Concurrent,
            "ConcurrentOperationException",
            ""
        )),
        Just(Fault::new(
            FaultClass::TokenConflict,
            "ClientTokenConflictException",
            ""
        )),
        Just(Fault::new(
            FaultClass::TokenUnknown,
            "RequestTokenNotFoundException",
            ""
        )),
        Just(Fault::new(FaultClass::Transient, "NetworkFailure", ""))
    ];
    let presence = prop_oneof![
        Just(Presence::Absent),
        Just(Presence::Unreadable(name("vpc-1"))),
        ("[de]", ownerships()).prop_map(|(digest, ownership)| present_with(&digest, ownership)),
        fault.clone().prop_map(Presence::Unknown)
    ];
    let listing = prop_oneof![
        Just(Listing::Holds),
        Just(Listing::Lacks),
        Just(Listing::Unlisted),
        fault.clone().prop_map(Listing::Unknown)
    ];
    let search = prop_oneof![
        Just(Search::Found(name("vpc-2"))),
        Just(Search::More),
        Just(Search::Lacks { began_at: START }),
        Just(Search::Unsearchable),
        Just(Search::TooMany),
        fault.clone().prop_map(Search::Unknown)
    ];
    let plan = prop_oneof![
        Just(create()),
        Just(update()),
        Just(replace(ReplacementOrder::CreateBeforeDelete)),
        Just(replace(ReplacementOrder::DeleteBeforeCreate)),
        Just(deletion()),
        Just(PlanOutcome::Nothing),
        Just(PlanOutcome::Impossible(Failure::new("InvalidRequest", "")))
    ];
    let status = prop_oneof![
        Just(ProgressStatus::Running),
        Just(ProgressStatus::Success),
        Just(ProgressStatus::Canceled),
        "AlreadyExists|NotFound|NotStabilized".prop_map(|code| failed(&code))
    ];
    let named = prop_oneof![Just(None), Just(Some("vpc-1")), Just(Some("vpc-2"))];
    let progress = (status, named).prop_map(|(status, identifier)| progress(status, identifier));
    let reply = prop_oneof![progress.prop_map(Ok), fault.clone().prop_map(Err)];
    prop_oneof![
        Just(Observation::Claimed),
        (presence.clone(), plan).prop_map(|(presence, plan)| Observation::Looked(presence, plan)),
        presence.prop_map(Observation::Read),
        listing.prop_map(Observation::Listed),
        search.prop_map(Observation::Searched),
        reply.clone().prop_map(Observation::Submitted),
        reply.clone().prop_map(Observation::Polled),
        reply.prop_map(Observation::CancelAsked),
        fault.prop_map(Observation::Unprepared),
        holders().prop_map(taken_by),
    ]
}

/// A planner updates only what exists and deletes only for a delete, and nothing can be read without an identifier.
fn can_be_observed(operation: &Operation, observation: &Observation) -> bool {
    let presence = match observation {
        Observation::Looked(presence, _) | Observation::Read(presence) => presence,
        Observation::Claimed
        | Observation::Listed(_)
        | Observation::Searched(_)
        | Observation::Submitted(_)
        | Observation::Polled(_)
        | Observation::CancelAsked(_)
        | Observation::GivenUp
        | Observation::Unprepared(_)
        | Observation::Taken(_)
        | Observation::Surveyed(_) => return true,
    };
    let is_present = matches!(presence, Presence::Present { .. });
    let plan_fits = match observation {
        Observation::Looked(_, PlanOutcome::Create { .. }) => !operation.deletes() && !is_present,
        Observation::Looked(_, PlanOutcome::Update { .. }) => !operation.deletes() && is_present,
        Observation::Looked(_, PlanOutcome::Replace { .. }) => {
            !operation.deletes() && is_present && operation.was_referenced
        }
        Observation::Looked(_, PlanOutcome::Delete(_)) => operation.deletes(),
        Observation::Looked(_, PlanOutcome::Nothing) => operation.deletes() || is_present,
        _ => true,
    };
    plan_fits && (operation.subject().is_some() || !is_present)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    /// For any observations in any order, late or duplicate: terminal states absorb, every other state has a next
    /// wake-up, and a token stays the same until a new intent is recorded.
    #[test]
    fn any_order_of_events_is_harmless(
        kind in prop_oneof![Just(Kind::Put), Just(Kind::Delete), Just(Kind::Resolve)],
        was_referenced in any::<bool>(),
        was_owned in any::<bool>(),
        is_cancelled in any::<bool>(),
        events in prop::collection::vec((observations(), 0u64..100_000), 1..60),
    ) {
        let mut now = START;
        let start = operation(kind);
        let start = Operation { was_owned: was_owned && was_referenced, ..start };
        let mut operation = if was_referenced { referenced(start) } else { start };
        for (number, (observation, later)) in events.into_iter().enumerate() {
            now = now.after(Duration::from_millis(later));
            if !can_be_observed(&operation, &observation) {
                continue;
            }
            let is_cancelled = is_cancelled && number >= 3;
            let chance = chance(100 + number as u128);
            let seen = match &observation {
                Observation::Looked(Presence::Present { ownership, .. }, _)
                | Observation::Read(Presence::Present { ownership, .. }) => Some(ownership.clone()),
                _ => None,
            };
            let decision = resource::decide(&operation, is_cancelled, observation, now, chance);
            let before = operation.clone();
            if let Some(Effect::Submit(Intent { call: Call::Delete(subject), .. })) = &decision.effect
                && let Next::Move(moved) = &decision.next
            {
                let after = moved.clone().of(&before, now);
                match &after.replacing {
                    Some(Replacing::Undoing { old, .. }) => {
                        prop_assert_ne!(subject, old, "the old one is not what a create has left");
                        let is_ours_before = seen.is_some_and(|seen| matches!(seen, Ownership::Ours | Ownership::Others));
                        prop_assert!(!is_ours_before, "another create has made it");
                    }
                    Some(Replacing::OldLast { old, .. }) => {
                        prop_assert_eq!(subject, old);
                        prop_assert_ne!(after.identifier.as_ref(), Some(old), "nothing has taken its place");
                    }
                    _ => {}
                }
            }
            let only_reads = matches!(&decision.effect, None | Some(Effect::Read(_) | Effect::List(_) | Effect::Search));
            prop_assert!(kind != Kind::Resolve || only_reads, "a resolve changes nothing: {:?}", decision.effect);
            match decision.next {
                Next::Keep => prop_assert!(!matches!(decision.effect, Some(Effect::Submit(_))), "sent but not recorded"),
                Next::Move(moved) => {
                    prop_assert!(!before.state.is_terminal(), "a terminal state moved");
                    if let Some(Effect::Submit(intent)) = &decision.effect {
                        prop_assert_eq!(&moved.state, &State::Submitting(intent.clone()), "sent but not recorded");
                    }
                    prop_assert!(!moved.state.is_terminal(), "only a finish ends an operation");
                    prop_assert!(decision.effect.is_some() || moved.due_at >= now, "no wake-up");
                    if let (State::Submitting(old), State::Submitting(new), None) = (&before.state, &moved.state, &moved.planned) {
                        prop_assert_eq!(old.client_token, new.client_token);
                    }
                    operation = moved.of(&operation, now);
                }
                Next::Finish(finish) => {
                    prop_assert!(!before.state.is_terminal(), "a terminal state ended again");
                                        if let ReferenceChange::Applied { .. } | ReferenceChange::Kept { .. } | ReferenceChange::Made = finish.reference {
                        prop_assert!(finish.identifier.is_some(), "a reference to nothing");
                    }
                    if let Some(Replacing::NewFirst { old, .. } | Replacing::Undoing { old, .. }) = &before.replacing
                        && finish.ended != Ended::Succeeded
                    {
                        prop_assert_eq!(finish.identifier.as_ref(), Some(old), "the old one stays referenced");
                        prop_assert!(finish.reference != ReferenceChange::Removed, "the old one stays referenced");
                    }
                    let is_left = matches!(before.replacing, Some(Replacing::OldLast { .. }));
                    prop_assert!(!is_left, "ended without a word about the old one");
                    prop_assert!(decision.effect.is_none());
                    operation = finish.of(&operation, now);
                }
            }
        }
    }
}

/// An operation that learns nothing still ends: no state outlasts [`PATIENCE`] or the life of the token. Each list of up to
/// five faults comes again and again.
#[test]
fn an_operation_that_learns_nothing_ends() {
    for length in 1..=5 {
        for order in 0..1_u32 << length {
            let is_lost = |place: u32| order >> place & 1 == 1;
            let fault = |place| if is_lost(place) { lost() } else { throttled() };
            ends_with(&(0..length).map(fault).collect::<Vec<_>>());
        }
    }
}

fn ends_with(faults: &[Fault]) {
    let mut now = START;
    let mut operation = referenced(operation(Kind::Put));
    let deadline = START.after(PATIENCE * 9);
    let mut observation = Observation::Claimed;
    let mut due_at = START;
    for (turn, fault) in (0..).zip(faults.iter().cycle().cloned()) {
        let decision = decide(&operation, observation, now, chance(turn));
        match decision.next {
            Next::Keep => {}
            Next::Move(moved) => {
                due_at = moved.due_at;
                operation = moved.of(&operation, now);
            }
            Next::Finish(_) => return,
        }
        let name = operation.state.name();
        assert!(now < deadline, "still {name} after nine days of {faults:?}");
        observation = match decision.effect {
            Some(Effect::Look(_)) => Observation::Looked(Presence::Unknown(fault), create()),
            Some(Effect::Read(_)) => Observation::Read(Presence::Unknown(fault)),
            Some(Effect::List(_)) => Observation::Listed(Listing::Unknown(fault)),
            Some(Effect::Search) => Observation::Searched(Search::Unknown(fault)),
            Some(Effect::Submit(_)) => Observation::Submitted(Err(fault)),
            Some(Effect::Poll(_)) => Observation::Polled(Err(fault)),
            Some(Effect::Cancel(_)) => Observation::CancelAsked(Err(fault)),
            Some(Effect::Survey | Effect::Start(_) | Effect::ReadOutputs | Effect::TakeBack) => {
                unreachable!("for operations on groups")
            }
            None => {
                now = now.max(due_at);
                Observation::Claimed
            }
        };
    }
}
