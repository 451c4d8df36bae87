//! The register of leftovers: what lives in AWS because of us, or may, although no alias stands for it.

use async_trait::async_trait;
use ucp_model::{CorrelationId, Leftover, LeftoverId, Operation, OperationId, Register, Timestamp};

use crate::{Error, NewOperation};

/// The result of a try to settle a leftover.
#[derive(Clone, Debug, PartialEq)]
pub enum Retried {
    /// The operation that tries it was recorded, due at once.
    Accepted(Box<Operation>),
    /// The register no longer has it: somebody forgot it, or it was settled.
    Gone,
    /// A reference stands for the resource now. The entry was removed.
    Referenced,
    /// The reference is not undecided any more: what its create may have made was abandoned. The entry stays.
    Abandoned,
}

/// Storage of leftovers.
///
/// [`finish_operation`](crate::Operations::finish_operation) enters them. An entry leaves the register, in whatever
/// register it is,
///
/// - when an operation that deletes its AWS resource ends `Succeeded`,
/// - when a reference comes to stand for its AWS resource: when an operation that created the resource or found it ends and
///   the reference stays, and by an [adoption](crate::References::adopt),
/// - when somebody [forgets](Self::forget_leftover) it, or when its group is removed.
///
/// One that a reference [waits for](Leftover::undecided) leaves only when that reference is decided: whoever else has the
/// resource meanwhile, it has to be looked at again. If the reference goes on without what the create may have made, the
/// entry is [abandoned](Leftover::abandoned), and like the others from then on.
#[async_trait]
pub trait Leftovers: Send + Sync {
    /// Returns up to `limit` leftovers in the order of their names, starting after `after`, which need not exist any
    /// more. [`Error::NoSuchGroup`] for the register of a group that does not exist.
    async fn list_leftovers(
        &self,
        register: &Register,
        after: Option<OperationId>,
        limit: usize,
    ) -> Result<Vec<Leftover>, Error>;

    /// Counts the leftovers of all registers, up to `limit`.
    async fn count_leftovers(&self, limit: usize) -> Result<usize, Error>;

    /// Returns the leftover, if the register has it.
    async fn get_leftover(&self, id: &LeftoverId) -> Result<Option<Leftover>, Error>;

    /// Removes a leftover and appends an event. Returns whether the register had it. The AWS resource is left alone.
    async fn forget_leftover(
        &self,
        id: &LeftoverId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<bool, Error>;

    /// Returns up to `limit` leftovers that are to be tried by `now`, those that have waited longest first, and puts their
    /// next try off until `until`, as far as they [are tried](Leftover::is_tried) at all. No two callers get the same one before then. They are returned in the order of
    /// their ids.
    async fn claim_due_leftovers(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Leftover>, Error>;

    /// Accepts an operation on a leftover, if the register still has the leftover.
    ///
    /// For a create of unknown outcome ([`undecided`](Leftover::undecided)) it is a resolve of that reference, if the state
    /// of the reference is still `Unknown`; otherwise the entry is abandoned. Any other operation is one without a reference
    /// on the AWS resource, if no reference stands for the resource. [`Error::Busy`] if the reference or the resource has a
    /// live operation; for a reference also what else [`accept_operation`](crate::Operations::accept_operation) returns.
    ///
    /// As long as the operation is live, no reference can come to stand for the resource. If it is a delete that does not
    /// succeed, each entry of the resource gets one try more, the failure, and the time of its next try.
    async fn retry_leftover(&self, id: &LeftoverId, new: NewOperation) -> Result<Retried, Error>;
}
