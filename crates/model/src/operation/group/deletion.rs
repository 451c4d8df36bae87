//! Deletion of a group: the owned resources are deleted in waves, each after those that refer to it, then the group.

use std::collections::{BTreeMap, BTreeSet};

use super::super::persistence::{DELETE_TRIES_MAX, Persistence, delete_again_after, persistence};
use super::super::record::Operation;
use super::decision::{Decision, Finish, Next};
use super::naming::Names;
use super::step::{BUSY_RETRY, CHILDREN_AT_ONCE, cancelled, wait};
use super::survey::{Child, ChildGoal, Survey};
use super::work::GroupWork;
use crate::{
    Detail, Ended, ErrorCode, Failure, Identifier, Leftover, ProvisioningState, Reference,
    Timestamp,
};

/// The maximum total number of tries of one delete. Clock skew must not lead to endless tries.
const TRIES_IN_ALL_MAX: usize = 50;

/// Decides the next step of a deletion.
pub(super) fn decide(
    operation: &GroupWork,
    is_cancel_requested: bool,
    survey: &Survey,
    now: Timestamp,
) -> Decision {
    let members = Members::of(survey, now);
    let total = usize::try_from(operation.total).unwrap_or(usize::MAX);
    let done = total.saturating_sub(members.0.len());
    let next_wait = |due_at| wait(done, BTreeMap::new(), due_at, now);

    let running = members.count(|member| member.standing == Standing::Running);
    if is_cancel_requested {
        return match running {
            0 => cancelled(operation, done, BTreeMap::new()),
            _ => Decision {
                next: next_wait(None),
                reason: "cancelled, but deletes are under way",
            },
        };
    }
    let room = CHILDREN_AT_ONCE.saturating_sub(running);
    let free = members.free();
    let ready = free
        .iter()
        .filter(|member| member.standing == Standing::Ready);
    let start: Vec<Child> = ready.take(room).map(|member| member.delete()).collect();
    if !start.is_empty() {
        return Decision {
            next: Next::Start(start),
            reason: "nothing that is left refers to them",
        };
    }
    if running > 0 {
        return Decision {
            next: next_wait(None),
            reason: "deletes are under way",
        };
    }
    let candidates = match free.is_empty() {
        true => members.of_a_cycle(),
        false => free,
    };
    if let Some(member) = candidates
        .iter()
        .filter(|member| member.standing == Standing::Ready)
        .min_by_key(|member| member.tries)
    {
        return Decision {
            next: Next::Start(vec![member.delete()]),
            reason: "they refer to each other, so one of them goes first",
        };
    }
    let until = candidates
        .iter()
        .filter_map(|member| member.standing.until());
    if let Some(until) = until.min() {
        return Decision {
            next: next_wait(Some(until)),
            reason: "deletes are tried again later",
        };
    }
    let (ended, reason) = match members.blocked(survey) {
        None => (Ended::Succeeded, "nothing owned is left"),
        Some(failure) => (Ended::Failed(failure), "what is left cannot be deleted"),
    };
    Decision {
        next: Next::Finish(Finish {
            ended,
            done: u32::try_from(done).unwrap_or(u32::MAX),
            outcomes: BTreeMap::new(),
        }),
        reason,
    }
}

/// The status of one owned reference.
#[derive(Clone, Debug, PartialEq)]
enum Standing {
    /// Its delete is in progress.
    Running,
    /// Its delete can start.
    Ready,
    /// Its delete can start at this time.
    Later(Timestamp),
    /// Its delete failed for this reason, and is not tried again.
    Settled(Failure),
}

impl Standing {
    fn until(&self) -> Option<Timestamp> {
        match self {
            Standing::Later(until) => Some(*until),
            Standing::Running | Standing::Ready | Standing::Settled(_) => None,
        }
    }
}

/// An owned reference whose resource is not yet deleted.
#[derive(Debug)]
struct Member<'a> {
    reference: &'a Reference,
    identifier: &'a Identifier,
    standing: Standing,
    /// How many tries of its delete have begun since another resource was last deleted.
    tries: u32,
    /// The other members that refer to it.
    named_by: BTreeSet<usize>,
}

impl Member<'_> {
    fn delete(&self) -> Child {
        Child {
            reference: self.reference.id.clone(),
            scope: self.reference.scope.clone(),
            goal: ChildGoal::Delete,
        }
    }
}

/// The resources still owned, in the order of the references' keys.
#[derive(Debug)]
struct Members<'a>(Vec<Member<'a>>);

impl<'a> Members<'a> {
    fn of(survey: &'a Survey, now: Timestamp) -> Self {
        let owned: Vec<(&Reference, &Identifier)> = survey
            .references
            .iter()
            .filter(|reference| reference.owned)
            .filter_map(|reference| Some((reference, reference.identifier.as_ref()?)))
            .collect();
        let mut tries_of: BTreeMap<String, Vec<&Operation>> = BTreeMap::new();
        for child in &survey.children {
            if let Some(reference) = child.work.reference() {
                tries_of.entry(reference.key()).or_default().push(child);
            }
        }
        let mut names = Names::default();
        for (index, (_, identifier)) in owned.iter().enumerate() {
            names.insert(identifier.as_str(), index);
        }
        let mut named_by: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); owned.len()];
        for (index, (reference, _)) in owned.iter().enumerate() {
            let named = reference
                .observed
                .iter()
                .flat_map(|live| names.named_in(live));
            for other in named.filter(|other| *other != index) {
                named_by[other].insert(index);
            }
        }
        let last_gone = survey
            .children
            .iter()
            .filter(|child| child.ended() == Some(&Ended::Succeeded))
            .filter_map(|child| child.header.ended_at)
            .max();
        let members = owned.into_iter().zip(named_by);
        Self(
            members
                .map(|((reference, identifier), named_by)| {
                    let key = reference.id.key();
                    let tries = tries_of.get(&key).map(Vec::as_slice).unwrap_or_default();
                    let (standing, tries) = standing(tries, last_gone, now);
                    let is_refused = survey.refused.contains_key(&key);
                    let standing = if is_refused && standing == Standing::Ready {
                        Standing::Later(now.after(BUSY_RETRY))
                    } else {
                        standing
                    };
                    Member {
                        reference,
                        identifier,
                        standing,
                        tries,
                        named_by,
                    }
                })
                .collect(),
        )
    }

    fn count(&self, is_meant: impl Fn(&Member<'_>) -> bool) -> usize {
        self.0.iter().filter(|member| is_meant(member)).count()
    }

    /// The members that must be deleted before this one, directly or transitively.
    fn before(&self, index: usize) -> BTreeSet<usize> {
        let mut before = BTreeSet::new();
        let mut left: Vec<usize> = self.0[index].named_by.iter().copied().collect();
        while let Some(other) = left.pop() {
            if before.insert(other) {
                left.extend(&self.0[other].named_by);
            }
        }
        before
    }

    fn is_settled(&self, index: usize) -> bool {
        matches!(self.0[index].standing, Standing::Settled(_))
    }

    /// The first member that must precede this one but cannot be deleted.
    fn held_by(&self, index: usize) -> Option<&Member<'a>> {
        let mut before = self.before(index).into_iter();
        before
            .find(|other| *other != index && self.is_settled(*other))
            .map(|other| &self.0[other])
    }

    /// The members that no other member refers to and whose delete may still succeed.
    fn free(&self) -> Vec<&Member<'a>> {
        self.0
            .iter()
            .filter(|member| member.named_by.is_empty())
            .filter(|member| !matches!(member.standing, Standing::Settled(_)))
            .collect()
    }

    /// The members that only members of the same cycle must precede.
    fn of_a_cycle(&self) -> Vec<&Member<'a>> {
        let before: Vec<BTreeSet<usize>> =
            (0..self.0.len()).map(|index| self.before(index)).collect();
        let is_first = |index: usize| {
            !self.is_settled(index)
                && before[index]
                    .iter()
                    .all(|other| !self.is_settled(*other) && before[*other].contains(&index))
        };
        let indices = (0..self.0.len()).filter(|index| is_first(*index));
        indices.map(|index| &self.0[index]).collect()
    }

    /// The failure that explains the remaining members, and what is left over that is ours. `None` if there are none.
    fn blocked(&self, survey: &Survey) -> Option<Failure> {
        let members = (0..self.0.len()).map(|index| self.detail(index));
        let ours = survey.leftovers.iter();
        let ours = ours.filter(|left| left.reason.is_ours());
        let undecided = survey.references.iter();
        let undecided = undecided
            .filter(|reference| reference.provisioning_state == ProvisioningState::Unknown);
        let details: Vec<Detail> = members
            .chain(ours.map(of_leftover))
            .chain(undecided.map(of_undecided))
            .collect();
        if details.is_empty() {
            return None;
        }
        let message = format!(
            "{} of the group's resources could not be deleted; the details say why. The group stays with what is left. Fix the causes, release the resources (PATCH their references with ownedResource false) or forget the leftovers (DELETE them), then delete the group again.",
            details.len()
        );
        Some(Failure::new(ErrorCode::ResourceGroupDeletionBlocked, message).with_details(details))
    }

    fn detail(&self, index: usize) -> Detail {
        let Member {
            reference,
            identifier,
            standing,
            ..
        } = &self.0[index];
        let alias = &reference.id.alias;
        let (code, reason) = match (standing, self.held_by(index)) {
            (Standing::Settled(failure), _) => (failure.code.as_str(), failure.message.clone()),
            (_, Some(holder)) => (
                "DependentNotDeleted",
                format!(
                    "left alone, because '{}' ({}) refers to it and could not be deleted",
                    holder.reference.id.alias, holder.identifier
                ),
            ),
            (_, None) => ("DependentNotDeleted", "left alone".to_owned()),
        };
        let id = reference
            .scope
            .resource(&reference.id.type_name, identifier);
        Detail::at(code, format!("'{alias}' ({identifier}): {reason}"), id)
    }
}

/// What is left over, how it comes to an end by itself, and how to end it.
fn of_leftover(leftover: &Leftover) -> Detail {
    let Leftover {
        id,
        identifier,
        last_error,
        next_try_at,
        ..
    } = leftover;
    let name = identifier.as_ref().map_or("", Identifier::as_str);
    let (code, cause) = match last_error {
        Some(error) => {
            let cause = error.message.trim_end_matches('.');
            (error.code.as_str(), format!(" ({cause})"))
        }
        None => ("LeftOver", String::new()),
    };
    let message = format!(
        "'{name}' is left over and could not be deleted{cause}. Its deletion is tried again at {next_try_at}. Or delete it yourself, or forget it with a DELETE of {id}"
    );
    let target = leftover.target();
    let resource = target.map(|target| target.scope.resource(target.type_name, target.identifier));
    Detail::at(code, message, resource.unwrap_or_else(|| id.to_string()))
}

/// What may stand without being known, and how to decide.
fn of_undecided(reference: &Reference) -> Detail {
    let id = reference.id.to_string();
    let message = format!(
        "'{}': the outcome of its create is unknown. Import what AWS has, or DELETE the reference, which leaves AWS alone",
        reference.id.alias
    );
    Detail::at(ErrorCode::OutcomeUnknown, message, id)
}

/// The status of a reference after these tries of its delete, and how many of them began since another resource was
/// last deleted.
fn standing(tries: &[&Operation], last_gone: Option<Timestamp>, now: Timestamp) -> (Standing, u32) {
    let failed_since =
        |child: &&&Operation| last_gone.is_none_or(|gone| child.header.accepted_at >= gone);
    let count = u32::try_from(tries.iter().filter(failed_since).count()).unwrap_or(u32::MAX);
    if tries.iter().any(|child| child.header.ended_at.is_none()) {
        return (Standing::Running, count);
    }
    let last = tries.iter().max_by_key(|child| child.header.ended_at);
    let Some((ended, ended_at)) = last.and_then(|last| last.ended().zip(last.header.ended_at))
    else {
        return (Standing::Ready, count);
    };
    let (failure, persistence) = match ended {
        Ended::Succeeded => return (Standing::Ready, count),
        Ended::Failed(failure) => (failure, persistence(failure)),
        Ended::Canceled(failure) => (failure, Persistence::Lasting),
    };
    let standing = match persistence {
        Persistence::Lasting => Standing::Settled(failure.clone()),
        Persistence::Passing | Persistence::OfThisMoment if tries.len() >= TRIES_IN_ALL_MAX => {
            Standing::Settled(failure.clone())
        }
        Persistence::Passing | Persistence::OfThisMoment if count == 0 => Standing::Ready,
        Persistence::Passing if count < DELETE_TRIES_MAX => {
            match ended_at.after(delete_again_after(count)) {
                until if until <= now => Standing::Ready,
                until => Standing::Later(until),
            }
        }
        Persistence::Passing | Persistence::OfThisMoment => Standing::Settled(failure.clone()),
    };
    (standing, count)
}
