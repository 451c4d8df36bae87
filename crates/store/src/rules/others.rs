//! The other references that stand for the AWS resource of an operation.

use ucp_model::operation::{Kind, ReplacementPolicy, Replacing, ResourceWork, WhenShared, Work};
use ucp_model::{Operation, PlanPolicy, ProvisioningState, Reference, ReferenceId, Timestamp};

use super::{judge_policy_elsewhere, update};
use crate::{Error, NewResourceWork, ReferenceUpdate, SHARED_MAX};

/// Whether a put makes a reference.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    is_new: bool,
    compared_with: usize,
}

impl Made {
    /// Returns whether the work makes a reference beside what its alias stands for `before`. One whose create has an unknown
    /// outcome stands for nothing known.
    pub fn by(work: &NewResourceWork, before: Option<&Reference>) -> Self {
        let is_put = work.kind == Kind::Put && work.reference.is_some();
        let stands = |it: &Reference| it.provisioning_state != ProvisioningState::Unknown;
        Self {
            is_new: is_put && !before.is_some_and(stands),
            compared_with: work.compared_with,
        }
    }
}

/// What is recorded of the other references that stand for an AWS resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Their ids.
    pub references: Vec<ReferenceId>,
    /// The strictest policy of their groups, but for that of the operation.
    pub policy: PlanPolicy,
}

/// Refuses a change that the policy of another group does not take, or a deletion of what other references stand for. The
/// engine has locked the resource, so that no other reference comes to stand for it meanwhile.
pub fn judge_others(operation: &Operation, others: &Others) -> Result<(), Error> {
    if operation.work.resource().is_some_and(|work| work.forgets) {
        // It is left alone, which no policy forbids and nobody loses anything by.
        return Ok(());
    }
    judge_policy_elsewhere(others.policy, operation.work.plan().is_some())?;
    match operation.work.resource() {
        Some(work) if work.kind == Kind::Delete => refuse_shared(work, &others.references),
        // The step corrects a spelling, under which others stand for what it replaces; or others have come to stand for what a failed
        // create has left.
        Some(work) if takes_away(work) => {
            if others.references.is_empty() {
                Ok(())
            } else {
                Err(Error::Shared(others.references.clone()))
            }
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns whether a put is about to delete a resource: one that its reference owns, and it replaces, or one that a failed create
/// has left.
pub fn takes_away(work: &ResourceWork) -> bool {
    match &work.replacing {
        Some(Replacing::OldFirst | Replacing::NewFirst { .. } | Replacing::OldLast { .. }) => {
            work.was_owned
        }
        Some(Replacing::Undoing { .. }) => true,
        Some(Replacing::OldGone { .. } | Replacing::Lost { .. } | Replacing::OldLeft { .. })
        | None => false,
    }
}

/// Refuses the put that makes the reference `made` to what more references stand for than its declaration was compared with: each
/// may undo what the other one declares.
pub fn judge_second(made: &Made, others: &Others) -> Result<(), Error> {
    if made.is_new && others.references.len() > made.compared_with {
        Err(Error::PreconditionFailed)
    } else {
        Ok(())
    }
}

/// Notes the references that a put would take the resource from if it replaced that, and whether a delete leaves the resource to
/// others. It holds the resource until it ends, so that they stay the same.
pub fn share(operation: &mut Operation, others: &Others) {
    let Work::Resource(work) = &mut operation.work else {
        return;
    };
    match work.kind {
        Kind::Put
            if work.was_owned && work.options.replacement_policy != ReplacementPolicy::Refuse =>
        {
            if work.options.gives_up_shared() {
                // Earlier versions know only what is not owned to be left alone.
                work.gives_up_old = !others.references.is_empty();
                work.was_owned = others.references.is_empty();
                return;
            }
            let others = others.references.iter();
            work.shared_with = others.take(SHARED_MAX).cloned().collect();
        }
        Kind::Delete => {
            let own = work.reference.as_ref().map(|own| own.group.key());
            let counts = |other: &ReferenceId| match work.when_shared {
                WhenShared::Forget => true,
                WhenShared::ForgetElsewhere => own != Some(other.group.key()),
                WhenShared::Refuse | WhenShared::RefuseElsewhere | WhenShared::Delete => false,
            };
            let is_shared = others.references.iter().any(counts);
            if is_shared || work.forgets && work.was_owned {
                work.forgets = true;
                let warning = work.giving_up(work.identifier.as_ref());
                work.warnings.push(warning);
            }
        }
        Kind::Put | Kind::Import | Kind::Resolve => {}
    }
}

/// Returns the reference that comes to own what the work gives up to others: `before` owned it, and `after` does not stand for it.
pub fn heir_of<'a>(
    work: &'a ResourceWork,
    before: &Reference,
    after: Option<&Reference>,
) -> Option<&'a ReferenceId> {
    let is_given_up = work.forgets || work.gives_up_old;
    let stays = after.is_some_and(|after| after.target() == before.target());
    work.heir
        .as_ref()
        .filter(|_| is_given_up && before.owned && !stays)
}

/// Returns the heir as it owns from now on what `given_up` has owned; `None` if it cannot: it does not stand for that any more, was
/// not put, or an operation works on it.
pub fn inherited(heir: Reference, given_up: &Reference, now: Timestamp) -> Option<Reference> {
    let target = |reference: &Reference| reference.target().map(|target| target.key());
    let is_same = target(&heir).is_some() && target(&heir) == target(given_up);
    let may_own = heir.operation.is_none() && heir.last_put().is_some() && !heir.owned;
    let own = ReferenceUpdate {
        owned: Some(true),
        ..ReferenceUpdate::default()
    };
    (is_same && may_own).then(|| update(heir, own, now))
}

/// Refuses a deletion of what other references stand for.
fn refuse_shared(work: &ResourceWork, others: &[ReferenceId]) -> Result<(), Error> {
    let own = work.reference.as_ref().map(|own| own.group.key());
    let counts = |other: &&ReferenceId| match work.when_shared {
        WhenShared::Delete => false,
        // What is forgotten does not come here. A step that corrects a spelling may find others only now.
        WhenShared::RefuseElsewhere | WhenShared::ForgetElsewhere => own != Some(other.group.key()),
        WhenShared::Refuse | WhenShared::Forget => true,
    };
    let others: Vec<ReferenceId> = others.iter().filter(counts).cloned().collect();
    if others.is_empty() {
        Ok(())
    } else {
        Err(Error::Shared(others))
    }
}
