//! Applying a set: puts, each after those that it depends on, then deletes in the order of a group's deletion.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::super::record::Operation;
use super::super::resource::Verdict;
use super::application::{
    Application, ApplyMember, Deployment, MemberGoal, MemberState, MemberStatus, OnFailure,
};
use super::decision::{Decision, Finish, Moved, Next};
use super::naming::Names;
use super::step::{BUSY_RETRY, due_by};
use super::survey::{Child, ChildGoal, Refusal, Survey};
use super::waves::{Members, Standing, Wave};
use super::work::GroupWork;
use crate::{
    Detail, Ended, ErrorCode, Failure, Identifier, ProvisioningState, Reference, Timestamp, retry,
};

/// The maximum number of members of a set that are in progress at once.
pub const MEMBERS_AT_ONCE: usize = 16;
/// The maximum number of tries to read what a declaration refers to.
const READ_TRIES_MAX: u32 = 8;
/// The same of what only reads: half a minute.
const READS_ALONE_MAX: u32 = 5;
/// How often an order reads a value that is not there again before what it hands out goes without: reads of AWS lag.
const LAG_TRIES: u32 = 2;
/// The interval at which it is looked whether the operation that an order comes after has ended.
const ORDER_RETRY: Duration = Duration::from_secs(1);
/// Delays between these tries.
const FIRST_READ_RETRY: Duration = Duration::from_secs(2);
const LONGEST_READ_RETRY: Duration = Duration::from_secs(60);

/// Decides the next step of an apply.
pub(super) fn decide(
    operation: &GroupWork,
    is_cancel_requested: bool,
    application: &Application,
    survey: &Survey,
    now: Timestamp,
) -> Decision {
    let mut step = Step::of(operation, application, survey, now);
    if survey.has_to_wait && !is_cancel_requested {
        return step.wait(
            now.after(ORDER_RETRY),
            "what it comes after has not ended yet",
        );
    }
    step.put(is_cancel_requested);
    let mut deleting = None;
    if step.are_puts_over() {
        deleting = Some(step.delete(is_cancel_requested));
    }
    let running = step.count(|state| *state == MemberState::Running);
    if !step.start.is_empty() && !is_cancel_requested {
        let room = MEMBERS_AT_ONCE.saturating_sub(running);
        if room > 0 {
            step.start.truncate(room);
            return Decision {
                next: Next::Start(step.start),
                reason: deleting.flatten().unwrap_or("what they depend on is there"),
            };
        }
    }
    if is_cancel_requested {
        step.cancel();
    }
    if step.statuses.iter().any(|status| !status.state.is_over()) {
        let due_at = due_by(step.again_at, now);
        let reason = match running {
            0 => "members are tried again later",
            _ => "members are under way",
        };
        return step.wait(due_at, reason);
    }
    step.end(is_cancel_requested, survey)
}

/// A put that was not carried out, and has no resource of its own.
struct Unmade<'a> {
    member: &'a ApplyMember,
    /// Whether AWS has said that there is one already.
    has_met: bool,
    /// Whether the set is an order of a platform.
    is_of_order: bool,
    /// What its resource is called, if that is known.
    name: Option<&'a Identifier>,
}

impl Unmade<'_> {
    /// Returns why a resource is kept that it may be about.
    fn failure(&self) -> Failure {
        let new = &self.member.symbolic_name;
        let why = match (self.has_met, self.name) {
            (true, Some(_)) => format!("AWS refused to create '{new}' since this has its name"),
            (true, None) => format!(
                "AWS refused to create '{new}' since there is one already, which may be this one"
            ),
            (false, Some(_)) => format!("'{new}', which has its name, was not made"),
            (false, None) => format!("'{new}' was not made, and may be about this one"),
        };
        let what_next = if self.is_of_order {
            "If the offering calls the same resource otherwise now, call it as before"
        } else {
            "If that is its new alias, move the reference with :refactor, and apply the set again"
        };
        let message = format!(
            "It was kept: {why}. {what_next}; if not, delete this one with a DELETE of its reference."
        );
        let failure = Failure::new(ErrorCode::DependencyFailed, message);
        failure.with_target(self.member.reference.to_string())
    }
}

/// A decision in the making.
struct Step<'a> {
    operation: &'a GroupWork,
    application: &'a Application,
    survey: &'a Survey,
    now: Timestamp,
    statuses: Vec<MemberStatus>,
    /// The children of each reference, oldest first.
    children: BTreeMap<String, Vec<&'a Operation>>,
    start: Vec<Child>,
    again_at: Option<Timestamp>,
}

impl<'a> Step<'a> {
    fn of(
        operation: &'a GroupWork,
        application: &'a Application,
        survey: &'a Survey,
        now: Timestamp,
    ) -> Self {
        let mut statuses = application.statuses();
        for (status, recorded) in statuses.iter_mut().zip(&operation.members) {
            status.clone_from(recorded);
        }
        let mut children: BTreeMap<String, Vec<&Operation>> = BTreeMap::new();
        for child in &survey.children {
            if let Some(reference) = child.work.reference() {
                children.entry(reference.key()).or_default().push(child);
            }
        }
        Self {
            operation,
            application,
            survey,
            now,
            statuses,
            children,
            start: Vec::new(),
            again_at: None,
        }
    }

    fn wait(self, due_at: Timestamp, reason: &'static str) -> Decision {
        Decision {
            next: Next::Wait(Moved {
                done: self.done(),
                outcomes: BTreeMap::new(),
                due_at,
                members: self.statuses,
                output_tries: self.operation.output_tries,
            }),
            reason,
        }
    }

    fn child(&self, member: &ApplyMember) -> Option<&'a Operation> {
        self.children.get(&member.reference.key())?.last().copied()
    }

    fn count(&self, is_meant: impl Fn(&MemberState) -> bool) -> usize {
        let statuses = self.statuses.iter();
        statuses.filter(|status| is_meant(&status.state)).count()
    }

    fn done(&self) -> u32 {
        u32::try_from(self.count(MemberState::is_over)).unwrap_or(u32::MAX)
    }

    fn again(&mut self, at: Timestamp) {
        self.again_at = Some(self.again_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Settles the puts as far as they can be, and notes those that can begin.
    fn put(&mut self, is_cancel_requested: bool) {
        let application = self.application;
        for (index, member) in application.members.iter().enumerate() {
            let MemberGoal::Put(options) = &member.goal else {
                continue;
            };
            if self.statuses[index].state.is_over() {
                continue;
            }
            if let Some(child) = self.child(member) {
                self.statuses[index].operation = Some(child.header.id);
                self.statuses[index].state = match child.ended() {
                    None => MemberState::Running,
                    Some(ended) => state_after(ended, child),
                };
                self.statuses[index].given_up = child.given_up();
                continue;
            }
            if let Some(failure) = self.held_back(member) {
                self.statuses[index].state = MemberState::Skipped(failure);
                continue;
            }
            let needs = member.depends_on.iter();
            let mut needs = needs.map(|need| &self.statuses[*need].state);
            if is_cancel_requested || !needs.all(MemberState::is_good) {
                continue;
            }
            if let Some(at) = self.statuses[index].next_try_at.filter(|at| *at > self.now) {
                self.again(at);
                continue;
            }
            match self.survey.refused.get(&member.reference.key()) {
                None => self.start.push(Child {
                    reference: member.reference.clone(),
                    scope: member.scope.clone(),
                    goal: ChildGoal::Put {
                        member: index,
                        options: *options,
                    },
                }),
                Some(Refusal::Busy) => self.again(self.now.after(BUSY_RETRY)),
                Some(Refusal::Later(failure)) => self.read_again(index, failure),
                Some(Refusal::Lasting(failure)) => {
                    self.statuses[index].state = MemberState::Failed(failure.clone());
                }
            }
        }
    }

    /// Notes that what a member refers to could not be read.
    fn read_again(&mut self, index: usize, failure: &Failure) {
        let status = &mut self.statuses[index];
        status.tries += 1;
        if status.tries >= READ_TRIES_MAX {
            status.state = MemberState::Failed(failure.clone());
            return;
        }
        let at = self.now.after(read_pause(status.tries));
        status.next_try_at = Some(at);
        self.again(at);
    }

    /// Returns why a member is skipped, if what it depends on has not become as declared.
    fn held_back(&self, member: &ApplyMember) -> Option<Failure> {
        let needs = member.depends_on.iter();
        let mut needs = needs.filter(|need| self.statuses[**need].state.failure().is_some());
        let need = &self.application.members[*needs.next()?];
        let message = format!(
            "'{}' was left as it is, because it depends on '{}', which was not made as declared.",
            member.symbolic_name, need.symbolic_name
        );
        let failure = Failure::new(ErrorCode::DependencyFailed, message);
        Some(failure.with_target(need.reference.to_string()))
    }

    /// Returns which of those that are `left` are kept, and why: another reference that stands for the same could not be forgotten, and
    /// what is left to that one alone nobody owns.
    fn not_forgotten(
        &self,
        references: &BTreeMap<String, &Reference>,
        left: &[&Reference],
    ) -> BTreeMap<usize, Failure> {
        let members = self.application.members.iter().zip(&self.statuses);
        let failed = members.filter(|(member, status)| {
            !matches!(member.goal, MemberGoal::Put(_)) && status.state.failure().is_some()
        });
        let failed = failed.filter_map(|(member, _)| {
            let reference = references.get(&member.reference.key())?;
            let target = reference.target().filter(|_| !reference.owned)?;
            Some((target.key(), member))
        });
        let failed: BTreeMap<String, &ApplyMember> = failed.collect();
        let kept = left.iter().enumerate().filter_map(|(at, reference)| {
            let target = reference.target().filter(|_| reference.owned)?;
            let twin = failed.get(&target.key())?;
            let message = format!(
                "It was kept, because '{}' stands for it too and could not be forgotten.",
                twin.symbolic_name
            );
            let failure = Failure::new(ErrorCode::DependencyFailed, message);
            Some((at, failure.with_target(twin.reference.to_string())))
        });
        kept.collect()
    }

    fn are_puts_over(&self) -> bool {
        let members = self.application.members.iter().zip(&self.statuses);
        members
            .filter(|(member, _)| matches!(member.goal, MemberGoal::Put(_)))
            .all(|(_, status)| status.state.is_over())
    }

    /// Settles the deletes as far as they can be, and notes those that can begin. Returns why they can.
    fn delete(&mut self, is_cancel_requested: bool) -> Option<&'static str> {
        let references = self.survey.references.iter();
        let references: BTreeMap<String, &Reference> = references
            .map(|reference| (reference.id.key(), reference))
            .collect();
        let kept = self.kept(&references);
        let application = self.application;
        let (mut left, mut left_references) = (Vec::new(), Vec::new());
        for (index, member) in application.members.iter().enumerate() {
            let is_put = matches!(member.goal, MemberGoal::Put(_));
            if is_put || self.statuses[index].state.is_over() {
                continue;
            }
            let child = self.child(member);
            let is_running = child.is_some_and(|child| !child.is_terminal());
            self.statuses[index].operation = child.map(|child| child.header.id);
            self.statuses[index].given_up = child.map(Operation::given_up).unwrap_or_default();
            let key = member.reference.key();
            let reference = references.get(&key).copied();
            let is_deleted = child.is_some_and(|child| child.ended() == Some(&Ended::Succeeded));
            let refusal = self.survey.refused.get(&key);
            let is_released = match (&member.goal, reference) {
                (MemberGoal::DeleteOwned(created_at), Some(reference)) => {
                    !reference.owned || reference.created_at != *created_at
                }
                (MemberGoal::DeleteOwned(_), None)
                | (MemberGoal::Put(_) | MemberGoal::Delete, _) => false,
            };
            let state = match (reference, self.held_back(member)) {
                (Some(reference), _) if is_running => {
                    left.push(index);
                    left_references.push(reference);
                    MemberState::Running
                }
                (None, _) if is_running => MemberState::Running,
                // Another one may have the alias by now.
                _ if is_deleted => MemberState::Succeeded,
                (None, _) => MemberState::Unchanged,
                (Some(_), _) if is_released => MemberState::Unchanged,
                (Some(_), _) if let Some(Refusal::Lasting(failure)) = refusal => {
                    MemberState::Failed(failure.clone())
                }
                (Some(_), Some(failure)) => MemberState::Skipped(failure),
                (Some(_), None) if let Some(failure) = kept.get(&key) => {
                    MemberState::Skipped(failure.clone())
                }
                (Some(reference), None) => {
                    left.push(index);
                    left_references.push(reference);
                    MemberState::Waiting
                }
            };
            self.statuses[index].state = state;
        }
        let mut members = Members::of(&left_references, self.survey, self.now);
        for (at, index) in left.iter().enumerate() {
            for need in &application.members[*index].depends_on {
                if let Some(first) = left.iter().position(|other| other == need) {
                    members.put_after(at, first);
                }
            }
        }
        let forgotten = members.forget_first(application.order.is_none());
        let mut stuck = self.not_forgotten(&references, &left_references);
        for (at, failure) in &stuck {
            members.settle(*at, failure.clone());
        }
        if is_cancel_requested {
            return None;
        }
        match members.wave(MEMBERS_AT_ONCE, false) {
            Wave::Start(children, reason) => {
                // As it was judged, so that the store refuses what has been made elsewhere or released meanwhile.
                let judged = left.iter().enumerate().map(|(at, index)| {
                    let member = &application.members[*index];
                    let goal = if forgotten.contains(&at) {
                        ChildGoal::Forget
                    } else {
                        delete(&member.goal)
                    };
                    (member.reference.key(), (member, goal))
                });
                let mut judged: BTreeMap<String, (&ApplyMember, ChildGoal)> = judged.collect();
                self.start.extend(children.into_iter().map(|child| {
                    match judged.remove(&child.reference.key()) {
                        Some((member, goal)) => Child {
                            scope: member.scope.clone(),
                            goal,
                            ..child
                        },
                        None => child,
                    }
                }));
                Some(reason)
            }
            Wave::UnderWay(until) => {
                until.into_iter().for_each(|until| self.again(until));
                None
            }
            Wave::Later(until) => {
                self.again(until);
                None
            }
            Wave::Over => {
                for (at, index) in left.into_iter().enumerate() {
                    self.statuses[index].state = match stuck.remove(&at) {
                        Some(failure) => MemberState::Skipped(failure),
                        None => undeleted(&members, at),
                    };
                }
                None
            }
        }
    }

    /// Returns why to keep resources that the set would delete, by the keys of their references: what members which were not made as
    /// declared refer to in AWS or may be about, and what either refers to.
    fn kept(&self, references: &BTreeMap<String, &Reference>) -> BTreeMap<String, Failure> {
        let members = self.application.members.iter().zip(&self.statuses);
        let (puts, deletes): (Vec<_>, Vec<_>) =
            members.partition(|(member, _)| matches!(member.goal, MemberGoal::Put(_)));
        let reference_of = |member: &ApplyMember| references.get(&member.reference.key()).copied();
        let deleted: Vec<&Reference> = deletes
            .iter()
            .filter_map(|(member, _)| reference_of(member))
            .collect();
        let names = Names::of(deleted.iter().copied());
        let mut kept = self.meant_by_failed(references);
        let failed = puts.iter().filter(|(_, status)| !status.state.is_good());
        let failed = failed.filter_map(|(member, _)| {
            let why = "may refer to it in AWS, and was not made as declared";
            Some((reference_of(member)?, member.symbolic_name.as_str(), why))
        });
        let met = deletes.iter().filter_map(|(member, _)| {
            let reference = reference_of(member)?;
            let why = "may refer to it, and is kept";
            let is_met = kept.contains_key(&reference.id.key());
            is_met.then_some((reference, member.symbolic_name.as_str(), why))
        });
        let mut left: Vec<(&Reference, &str, &str)> = failed.chain(met).collect();
        while let Some((user, name, why)) = left.pop() {
            for index in names.named_in(user) {
                let used = deleted[index];
                let key = used.id.key();
                if key == user.id.key() || kept.contains_key(&key) {
                    continue;
                }
                let message = format!("It was kept, because '{name}' {why}.");
                let failure = Failure::new(ErrorCode::DependencyFailed, message);
                kept.insert(key, failure.with_target(user.id.to_string()));
                left.push((used, &used.id.alias, "may refer to it, and is kept"));
            }
        }
        kept
    }

    /// Returns why to keep resources that a put which was not carried out may have been about, by the keys of their references: it
    /// has no resource of its own, so one of them may be what it declares under another alias. What came of its create may be unknown.
    fn meant_by_failed(
        &self,
        references: &BTreeMap<String, &Reference>,
    ) -> BTreeMap<String, Failure> {
        let members = self.application.members.iter().zip(&self.statuses);
        let (puts, deletes): (Vec<_>, Vec<_>) =
            members.partition(|(member, _)| matches!(member.goal, MemberGoal::Put(_)));
        let place_of =
            |member: &ApplyMember| member.scope.place_of_name(&member.reference.type_name);
        let identifier_of = |member: &ApplyMember| {
            let reference = references.get(&member.reference.key());
            reference.and_then(|it| it.identifier.as_ref())
        };
        let has_own = |member: &ApplyMember| {
            let reference = references.get(&member.reference.key());
            reference.is_some_and(|it| {
                it.identifier.is_some() && it.provisioning_state != ProvisioningState::Unknown
            })
        };
        let mut failed: BTreeMap<_, Vec<Unmade<'_>>> = BTreeMap::new();
        for (member, status) in puts {
            let failure = status.state.failure();
            let has_met = failure.is_some_and(|it| it.code == ErrorCode::AlreadyExists.as_str());
            if has_met || !status.state.is_good() && !has_own(member) {
                let unmade = Unmade {
                    member,
                    has_met,
                    is_of_order: self.application.order.is_some(),
                    name: self.name_of_failed(member, status, references),
                };
                failed.entry(place_of(member)).or_default().push(unmade);
            }
        }
        let kept = deletes.iter().filter_map(|(member, _)| {
            let identifier = identifier_of(member)?;
            let mut failed = failed.get(&place_of(member)).into_iter().flatten();
            let may_be = |unmade: &&Unmade<'_>| {
                unmade
                    .name
                    .is_none_or(|name| name.is_spelled_like(identifier))
            };
            Some((member.reference.key(), failed.find(may_be)?.failure()))
        });
        kept.collect()
    }

    /// Returns what AWS, or else the declaration, calls the resource of a put that was not carried out, if that is known: it was
    /// tried.
    fn name_of_failed<'s>(
        &'s self,
        member: &ApplyMember,
        status: &'s MemberStatus,
        references: &BTreeMap<String, &'s Reference>,
    ) -> Option<&'s Identifier> {
        let failure = status.state.failure();
        if failure.is_some_and(|it| it.code == ErrorCode::AlreadyExists.as_str()) {
            // A name that none of our resources of the type has may be another form of what one of them is called.
            let place = member.scope.place_of_name(&member.reference.type_name);
            let is_there = |it: &&&Reference| it.scope.place_of_name(&it.id.type_name) == place;
            let there = references.values().filter(is_there);
            let mut names = there.filter_map(|it| it.identifier.as_ref());
            return failure?
                .refused_for()
                .filter(|met| names.any(|identifier| met.is_spelled_like(identifier)));
        }
        let child = self.child(member).and_then(|child| child.work.resource());
        match child {
            Some(work) => work.identifier.as_ref(),
            None => references.get(&member.reference.key())?.identifier.as_ref(),
        }
    }

    /// Returns whether outputs are read again after so many tries. Somebody waits for what only reads.
    fn reads_again(&self, tries: u32) -> bool {
        let max = if self.application.members.is_empty() {
            READS_ALONE_MAX
        } else {
            READ_TRIES_MAX
        };
        let until = self
            .application
            .order
            .as_ref()
            .and_then(|order| order.reads_until);
        let next = self.now.after(read_pause(tries));
        tries < max && until.is_none_or(|until| next <= until)
    }

    /// Returns what an order hands out without the values that AWS has shown again and again not to be there, or that will not be
    /// read again.
    fn without_missing<'s>(&self, survey: &'s Survey) -> Option<&'s Value> {
        let tries = self.operation.output_tries;
        let is_settled = tries >= LAG_TRIES || !self.reads_again(tries + 1);
        survey.there.as_ref().filter(|_| is_settled)
    }

    /// Cancels what has not begun.
    fn cancel(&mut self) {
        for status in &mut self.statuses {
            if status.state == MemberState::Waiting {
                let message = "The apply was cancelled before this resource.";
                let failure = Failure::new(ErrorCode::Canceled, message);
                status.state = MemberState::Canceled(failure);
            }
        }
    }

    /// Ends the apply: everything is over.
    fn end(self, is_cancel_requested: bool, survey: &Survey) -> Decision {
        let done = self.done();
        let is_cancelled = |state: &MemberState| matches!(state, MemberState::Canceled(_));
        let is_cancelled = is_cancel_requested && self.count(is_cancelled) > 0;
        let failures = self.count(|state| !state.is_good());
        let (ended, outputs, reason) = if is_cancelled {
            let moves = match &self.application.deployment {
                Some(_) => {
                    " What has moved stays. If no put has written it, undo the refactor; or else move it back by another one."
                }
                None => "",
            };
            let message = format!(
                "The apply was cancelled with {} of {} resources as declared, which stay so. The others were left as they were.{moves}",
                self.statuses.len() - failures,
                self.statuses.len()
            );
            let failure = Failure::new(ErrorCode::Canceled, message);
            let reason = "cancelled, and nothing is under way";
            (Ended::Canceled(failure), None, reason)
        } else if failures > 0 {
            let failure = match self.application.deployment.as_deref() {
                None => self.failure(failures),
                Some(deployment) => match Moves::after(deployment, survey, is_cancel_requested) {
                    Ok(moves) => self.refactor_failure(failures, &moves),
                    Err(wait) => return self.without_moves(done, wait),
                },
            };
            (Ended::Failed(failure), None, "some members have failed")
        } else {
            match (self.application.has_outputs, &survey.outputs) {
                (false, _) => (Ended::Succeeded, None, "every member is as declared"),
                (true, Some(Err(_))) if let Some(there) = self.without_missing(survey) => {
                    let reason = "the outputs are read, and some have no value";
                    (Ended::Succeeded, Some(there.clone()), reason)
                }
                (true, None) => {
                    return Decision {
                        next: Next::ReadOutputs,
                        reason: "every member is as declared",
                    };
                }
                (true, Some(Ok(outputs))) => {
                    let outputs = Some(outputs.clone());
                    (Ended::Succeeded, outputs, "the outputs are read")
                }
                (true, Some(Err(_))) if is_cancel_requested => {
                    let message = "The apply was cancelled while its outputs could not be read. Every resource is as declared.";
                    let failure = Failure::new(ErrorCode::Canceled, message);
                    (
                        Ended::Canceled(failure),
                        None,
                        "cancelled, and nothing is under way",
                    )
                }
                (true, Some(Err(Refusal::Busy | Refusal::Later(_))))
                    if self.reads_again(self.operation.output_tries + 1) =>
                {
                    let output_tries = self.operation.output_tries + 1;
                    return Decision {
                        next: Next::Wait(Moved {
                            done,
                            outcomes: BTreeMap::new(),
                            due_at: self.now.after(read_pause(output_tries)),
                            members: self.statuses,
                            output_tries,
                        }),
                        reason: "the outputs are read again later",
                    };
                }
                (true, Some(Err(refusal))) => {
                    let message = "Every resource is as declared, but the outputs could not be read. Apply the set again to read them.";
                    let failure = Failure::new(ErrorCode::ApplyFailed, message);
                    let detail = match refusal {
                        Refusal::Later(cause) | Refusal::Lasting(cause) => Some(Detail::at(
                            cause.code.as_str(),
                            cause.message.as_str(),
                            "/outputs",
                        )),
                        Refusal::Busy => None,
                    };
                    let details = detail.into_iter().collect();
                    let ended = Ended::Failed(failure.with_details(details));
                    (ended, None, "the outputs cannot be read")
                }
            }
        };
        Decision {
            next: Next::Finish(Box::new(Finish {
                done,
                members: self.statuses,
                outputs,
                ..Finish::of_end(ended)
            })),
            reason,
        }
    }

    /// Goes on to take the moves back. First it is written that every member is over: one that begins afterwards would
    /// find its alias vacated.
    fn without_moves(self, done: u32, back: Back) -> Decision {
        let (due_at, reason) = match back {
            Back::Now if self.operation.members == self.statuses => {
                return Decision {
                    next: Next::TakeBack,
                    reason: "some members have failed",
                };
            }
            Back::Now => (self.now, "some members have failed"),
            Back::Later => (
                self.now.after(BUSY_RETRY),
                "what has moved is in use, so it is taken back later",
            ),
        };
        Decision {
            next: Next::Wait(Moved {
                done,
                outcomes: BTreeMap::new(),
                due_at,
                members: self.statuses,
                output_tries: self.operation.output_tries,
            }),
            reason,
        }
    }

    fn failure(&self, failures: usize) -> Failure {
        let message = format!(
            "{failures} of {} resources were not made as declared; the details say why. Fix the causes, and apply the set again: it goes on from what is there.",
            self.operation.total
        );
        Failure::new(ErrorCode::ApplyFailed, message).with_details(self.causes())
    }

    fn refactor_failure(&self, failures: usize, moves: &Moves) -> Failure {
        let (what, then) = match moves {
            Moves::TakenBack => (
                "What has moved is at its old address again.",
                "Fix the causes, and send the refactor again.",
            ),
            Moves::Kept => (
                "What has moved stays.",
                "Fix the causes, and send the refactor again.",
            ),
            Moves::Stuck(_) => (
                "What has moved stays, since it could not be taken back.",
                "Fix the causes, and send the refactor again.",
            ),
        };
        let message = format!(
            "{failures} of {} resources were not made as declared; the details say why. {what} {then} What was made stays.",
            self.operation.total
        );
        let mut details = self.causes();
        if let Moves::Stuck(failure) = moves {
            details.push(Detail {
                code: failure.code.clone(),
                message: failure.message.clone(),
                target: failure.target.clone(),
            });
        }
        Failure::new(ErrorCode::RefactorFailed, message).with_details(details)
    }

    /// Returns why members were not made as declared, but for those that had to wait for others.
    fn causes(&self) -> Vec<Detail> {
        let members = self.application.members.iter().zip(&self.statuses);
        let details = members.filter_map(|(member, status)| match &status.state {
            MemberState::Failed(failure) | MemberState::Canceled(failure) => Some(Detail::at(
                failure.code.as_str(),
                format!("'{}': {}", member.symbolic_name, failure.message),
                member.reference.to_string(),
            )),
            MemberState::Waiting
            | MemberState::Running
            | MemberState::Succeeded
            | MemberState::Unchanged
            | MemberState::Skipped(_) => None,
        });
        details.collect()
    }
}

/// What became of what has moved, when a put has failed.
enum Moves {
    Kept,
    TakenBack,
    /// It could not be taken back, for this reason.
    Stuck(Failure),
}

/// When to take back what has moved.
enum Back {
    Now,
    Later,
}

impl Moves {
    fn after(
        deployment: &Deployment,
        survey: &Survey,
        is_cancel_requested: bool,
    ) -> Result<Self, Back> {
        match (deployment.on_failure, &survey.taken_back) {
            (OnFailure::Keep, _) => Ok(Self::Kept),
            (OnFailure::Undo, None) => Err(Back::Now),
            (OnFailure::Undo, Some(Ok(()))) => Ok(Self::TakenBack),
            (OnFailure::Undo, Some(Err(Refusal::Lasting(failure)))) => {
                Ok(Self::Stuck(failure.clone()))
            }
            (OnFailure::Undo, Some(Err(Refusal::Busy | Refusal::Later(_))))
                if is_cancel_requested =>
            {
                let message =
                    "What has moved is in use, and to wait for that was cancelled. It stays.";
                Ok(Self::Stuck(Failure::new(ErrorCode::Canceled, message)))
            }
            (OnFailure::Undo, Some(Err(Refusal::Busy | Refusal::Later(_)))) => Err(Back::Later),
        }
    }
}

/// Returns the goal of the delete of a member.
fn delete(goal: &MemberGoal) -> ChildGoal {
    match goal {
        MemberGoal::DeleteOwned(created_at) => ChildGoal::DeleteOwned(*created_at),
        MemberGoal::Put(_) | MemberGoal::Delete => ChildGoal::Delete,
    }
}

/// Returns the pause after so many tries to read what a value refers to.
fn read_pause(tries: u32) -> Duration {
    let before = tries.saturating_sub(1);
    retry::backoff(before, FIRST_READ_RETRY, LONGEST_READ_RETRY, 1.0)
}

fn state_after(ended: &Ended, child: &Operation) -> MemberState {
    match ended {
        Ended::Succeeded => {
            let work = child.work.resource();
            let verdict = work.map(|work| work.verdict());
            if verdict == Some(Verdict::NothingToDo) {
                MemberState::Unchanged
            } else {
                MemberState::Succeeded
            }
        }
        Ended::Failed(failure) => MemberState::Failed(failure.clone()),
        Ended::Canceled(failure) => MemberState::Canceled(failure.clone()),
    }
}

/// Returns the state of a delete that is not tried again.
fn undeleted(members: &Members<'_>, index: usize) -> MemberState {
    match (&members.0[index].standing, members.held_by(index)) {
        (Standing::Settled(failure), _) => MemberState::Failed(failure.clone()),
        (_, Some(holder)) => {
            let message = format!(
                "It was kept, because '{}' refers to it and could not be deleted.",
                holder.reference.id.alias
            );
            let failure = Failure::new(ErrorCode::DependencyFailed, message);
            MemberState::Skipped(failure.with_target(holder.reference.id.to_string()))
        }
        (_, None) => {
            let message = "It was kept, because resources that refer to it could not be deleted.";
            MemberState::Skipped(Failure::new(ErrorCode::DependencyFailed, message))
        }
    }
}
