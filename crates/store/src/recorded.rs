//! What is recorded of an alias and of an AWS resource, as a request reads it that looks at AWS before it decides; and
//! what it writes, if that is still so.

use ucp_model::{ETag, Lineage, OperationId, Reference, ReferenceId, ResourceGroup};

use crate::{Event, Sealed};

/// What is recorded of an alias.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedAlias {
    /// Its group.
    pub group: ResourceGroup,
    /// Its reference, if any. It names the live operation on the alias.
    pub reference: Option<Reference>,
    /// What is recorded of the resource that the reference stands for. Without one, the default.
    pub target: RecordedTarget,
    /// Whether the alias has no reference, and one that was moved away has its lineage.
    pub is_lineage_taken: bool,
}

impl RecordedAlias {
    /// Returns the lineage of the reference, or the one that it gets if `operation` claims the alias `id`.
    pub fn lineage(&self, id: &ReferenceId, operation: OperationId) -> Lineage {
        let reference = self.reference.as_ref();
        reference.map_or_else(
            || Lineage::claimed(id, self.is_lineage_taken, operation),
            |reference| reference.lineage.clone(),
        )
    }
}

/// What is recorded of an AWS resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedTarget {
    /// The live operation that works on it.
    pub holder: Option<OperationId>,
    /// Whether a reference stands for it.
    pub is_referenced: bool,
    /// The operation on it that ended last, or among those that ended at the same time the one with the greatest id.
    /// After another one the resource may no longer be as it was seen before.
    pub last_ended: Option<OperationId>,
}

/// What was recorded before a look at an AWS resource. While it is still so, no operation has changed the alias or the
/// resource since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// The ETag of the reference. `None` if the alias had none, or if there was no alias.
    pub reference: Option<ETag>,
    /// Whether a reference stood for the resource. A replacement ends as an operation on the new resource; the old one
    /// only loses its references.
    pub is_referenced: bool,
    /// The operation on the resource that ended last.
    pub last_ended: Option<OperationId>,
}

impl Basis {
    /// Returns the basis of a look at `target`, for `reference`.
    pub fn new(reference: Option<&Reference>, target: &RecordedTarget) -> Self {
        Self {
            reference: reference.map(Reference::etag),
            is_referenced: target.is_referenced,
            last_ended: target.last_ended,
        }
    }

    /// Returns whether `reference` is the recorded one.
    pub fn is_of(&self, reference: Option<&Reference>) -> bool {
        self.reference == reference.map(Reference::etag)
    }

    /// Returns whether everything is recorded as it was.
    pub fn holds(&self, reference: Option<&Reference>, target: &RecordedTarget) -> bool {
        *self == Self::new(reference, target)
    }
}

/// A look at an AWS resource, for the operation that was decided on with it.
#[derive(Clone, Debug, PartialEq)]
pub struct NewLook {
    /// What it was judged with.
    pub basis: Basis,
    /// The look, sealed.
    pub sealed: Sealed,
}

/// A reference that comes to stand for an AWS resource, or to own it, without an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Adoption {
    /// What was recorded when the resource was looked at.
    pub basis: Basis,
    /// The reference to write, with an identifier: a new one with revision 1, or the next revision of the recorded one.
    pub reference: Reference,
    /// The event to append.
    pub event: Event,
}
