//! What enters the register of leftovers, and what leaves it.

use ucp_model::operation::{Kind, ResourceWork, State};
use ucp_model::{
    Ended, Failure, Leftover, LeftoverId, NewLeftover, ProvisioningState, Reference, ReferenceId,
    Register, Target, Timestamp,
};

use super::history::ended_at;
use super::removes_all_references;
use crate::{FinishOperation, NewOperation, NewWork};

/// Returns the entry that the end of an operation makes, if any. The engine enters it unless a reference stands for its
/// AWS resource.
pub fn left_over(finish: &FinishOperation) -> Option<Leftover> {
    let NewLeftover {
        identifier,
        reason,
        error,
        create,
    } = finish.leftover.clone()?;
    let header = &finish.operation.header;
    let work = finish.operation.work.resource()?;
    let ResourceWork {
        reference,
        scope,
        type_name,
        ..
    } = work;
    let now = ended_at(header);
    let register = match reference {
        Some(reference) => Register::Group(reference.group.clone()),
        None => Register::Place(scope.clone()),
    };
    Some(Leftover {
        id: LeftoverId {
            register,
            name: header.id,
        },
        scope: scope.clone(),
        type_name: type_name.clone(),
        identifier,
        reason,
        reference: reference.clone(),
        lineage: reference.as_ref().and_then(|_| work.lineage()),
        operation: header.id,
        since: now,
        tries: 0,
        last_error: error.map(brief),
        next_try_at: Leftover::tried_again_at(0, now),
        create,
        abandoned: false,
    })
}

/// Returns the AWS resource whose entries leave the register at the end of an operation: it was deleted, or `reference`,
/// which the operation leaves, came to stand for it.
pub fn settled<'a>(work: &'a ResourceWork, reference: Option<&Reference>) -> Option<Target<'a>> {
    let target = work.target()?;
    let comes_to_stand =
        |reference: &Reference| reference.identifier.as_ref() == Some(target.identifier);
    let is_undecided = |state| state == Some(ProvisioningState::Unknown);
    let is_resolved = is_undecided(work.state_before)
        && !is_undecided(reference.map(|reference| reference.provisioning_state));
    let is_new = !work.was_referenced || is_resolved || work.created || work.spelled.is_some();
    let stands = is_new && reference.is_some_and(comes_to_stand);
    (stands || removes_all_references(work)).then_some(target)
}

/// Returns the reference whose create of unknown outcome the end of an operation decides: an import, a delete or a resolve
/// under the alias. A put that goes on without what may be there leaves its entry.
pub fn decided(work: &ResourceWork) -> Option<&ReferenceId> {
    let has_decided = match work.kind {
        Kind::Import | Kind::Delete | Kind::Resolve => work.state == State::Ended(Ended::Succeeded),
        Kind::Put => false,
    };
    let was_unknown = work.state_before == Some(ProvisioningState::Unknown);
    work.reference
        .as_ref()
        .filter(|_| has_decided && was_unknown)
}

/// Returns the reference that goes on without what its create of unknown outcome may have made, at the end of a put that was
/// told to. `left` is the reference after its end.
pub fn abandoned<'a>(work: &'a ResourceWork, left: Option<&Reference>) -> Option<&'a ReferenceId> {
    let was_unknown = work.state_before == Some(ProvisioningState::Unknown);
    let stays_unknown =
        left.is_some_and(|left| left.provisioning_state == ProvisioningState::Unknown);
    // If it is unknown what came of another create, that one's entry takes the place.
    work.reference
        .as_ref()
        .filter(|_| work.kind == Kind::Put && was_unknown && !stays_unknown)
}

/// Returns the operation that resolves the unknown outcome of a create, with what the register knows of that create.
pub fn resolving(leftover: &Leftover, mut new: NewOperation) -> NewOperation {
    if let NewWork::Resource(work) = &mut new.work {
        work.resolves = leftover.create;
    }
    new
}

/// Returns the reference whose create of unknown outcome the end of an operation leaves undecided: a resolve that does not
/// succeed, which is a try.
pub fn unresolved(work: &ResourceWork) -> Option<&ReferenceId> {
    let has_failed = work.kind == Kind::Resolve && work.failure().is_some();
    work.reference.as_ref().filter(|_| has_failed)
}

/// A try to delete a leftover that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The key of the AWS resource.
    pub target: String,
    /// Why it failed.
    pub error: Failure,
    /// When it ended.
    pub at: Timestamp,
}

/// Returns the try that the end of an operation was, if it was a delete without a reference that did not succeed.
pub fn failed_delete(finish: &FinishOperation) -> Option<Attempt> {
    let work = finish.operation.work.resource()?;
    let error = match work.state.ended()? {
        Ended::Failed(failure) | Ended::Canceled(failure) => failure.clone(),
        Ended::Succeeded => return None,
    };
    let is_try = work.kind == Kind::Delete && work.reference.is_none();
    let target = work.target().filter(|_| is_try)?;
    Some(Attempt {
        target: target.key(),
        error: brief(error),
        at: ended_at(&finish.operation.header),
    })
}

/// Only the code and the message are kept.
fn brief(failure: Failure) -> Failure {
    Failure::new(failure.code, failure.message)
}
