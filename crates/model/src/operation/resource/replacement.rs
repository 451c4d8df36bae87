use serde::{Deserialize, Serialize};

use crate::{Failure, Identifier, NewLeftover, Setback};

/// The order of create and delete in a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacementOrder {
    /// Delete the old resource once the new one exists.
    CreateBeforeDelete,
    /// Delete the old resource first.
    DeleteBeforeCreate,
}

/// The progress of a replacement, in addition to the operation's state. The alias stands for the old resource until the
/// new one exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase")]
pub enum Replacing {
    /// `identifier` is the old resource, which is being deleted before the new one is created.
    OldFirst,
    /// `identifier` is the new resource, if known, which is created like any other.
    OldGone {
        /// The old resource, which has been deleted.
        old: Identifier,
    },
    /// `identifier` is the new resource, if known, which is created in place of one that was lost.
    Lost {
        /// The old resource, which is proven not to exist. It is still referenced.
        old: Identifier,
    },
    /// `identifier` is the new resource, if known, which is being created.
    NewFirst {
        /// The old resource, which is still referenced.
        old: Identifier,
        /// Whether the declaration determines the new resource's identifier. If so, a resource with that identifier may
        /// be someone else's.
        is_named: bool,
    },
    /// `identifier` is the new resource, which exists and is referenced.
    OldLast {
        /// The old resource, which is being deleted.
        old: Identifier,
        /// How often its deletion has failed for a reason that passes.
        #[serde(default)]
        tries: u32,
    },
    /// `identifier` is the new resource, which exists and is referenced. The old one could not be deleted.
    OldLeft {
        /// The failure to report.
        failure: Failure,
        /// The old resource. `None` if an earlier version left it.
        #[serde(default)]
        leftover: Option<NewLeftover>,
    },
    /// `identifier` is what a failed create left of the new resource, which is being deleted.
    Undoing {
        /// The old resource, which stays.
        old: Identifier,
        /// How the create ended.
        #[serde(rename = "failure")]
        setback: Setback,
        /// How often the deletion has failed for a reason that passes.
        #[serde(default)]
        tries: u32,
        /// Whether it was proven that the create has made it. Earlier versions took a name for that.
        #[serde(default)]
        is_proven: bool,
    },
}

impl Replacing {
    /// Returns whether the old resource was lost.
    pub(super) fn is_of_lost(&self) -> bool {
        matches!(self, Replacing::Lost { .. })
    }

    /// Returns the old resource, beside which a new one is created. After one that was deleted, AWS may derive the same
    /// identifier from the same name.
    pub(super) fn old(&self) -> Option<&Identifier> {
        match self {
            Replacing::Lost { old }
            | Replacing::NewFirst { old, .. }
            | Replacing::OldLast { old, .. }
            | Replacing::Undoing { old, .. } => Some(old),
            Replacing::OldFirst | Replacing::OldGone { .. } | Replacing::OldLeft { .. } => None,
        }
    }

    /// Returns the resource that the next call to AWS is about, for an operation with this replacement and identifier.
    pub fn subject<'a>(
        replacing: Option<&'a Self>,
        identifier: Option<&'a Identifier>,
    ) -> Option<&'a Identifier> {
        match replacing {
            Some(Replacing::OldLast { old, .. }) => Some(old),
            Some(
                Replacing::OldFirst
                | Replacing::OldGone { .. }
                | Replacing::Lost { .. }
                | Replacing::NewFirst { .. }
                | Replacing::OldLeft { .. }
                | Replacing::Undoing { .. },
            )
            | None => identifier,
        }
    }
}
