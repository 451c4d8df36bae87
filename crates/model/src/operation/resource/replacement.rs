use serde::{Deserialize, Serialize};

use crate::{Failure, Identifier, Setback};

/// In which order a replacement is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacementOrder {
    /// The old resource goes when the new one stands.
    CreateBeforeDelete,
    /// The old resource goes first.
    DeleteBeforeCreate,
}

/// How far an operation is with replacing a resource, beyond its state. The alias goes on standing for the old resource
/// until the new one stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase")]
pub enum Replacing {
    /// `identifier` is the old resource, and is being deleted to make room for the new one.
    OldFirst,
    /// `identifier` is the new resource, as far as known, and is created like any other.
    OldGone {
        /// The old one, which was deleted to make room for it.
        old: Identifier,
    },
    /// `identifier` is the new resource, as far as known, and is being created.
    NewFirst {
        /// The old one, which is still referenced.
        old: Identifier,
        /// Whether the declaration determines the new one's identifier. Then somebody else may have made what has it.
        is_named: bool,
    },
    /// `identifier` is the new resource, which stands and is referenced.
    OldLast {
        /// The old one, which is being deleted.
        old: Identifier,
    },
    /// `identifier` is the new resource, which stands and is referenced; the old one could not be deleted.
    OldLeft {
        /// Which says so.
        failure: Failure,
    },
    /// `identifier` is what a failed create left of the new resource, and is being deleted.
    Undoing {
        /// The old one, which stays.
        old: Identifier,
        /// How the create ended.
        #[serde(rename = "failure")]
        setback: Setback,
    },
}

impl Replacing {
    /// The resource that the next call to AWS is about, where an operation is that far and has this identifier.
    pub fn subject<'a>(
        replacing: Option<&'a Self>,
        identifier: Option<&'a Identifier>,
    ) -> Option<&'a Identifier> {
        match replacing {
            Some(Replacing::OldLast { old }) => Some(old),
            Some(
                Replacing::OldFirst
                | Replacing::OldGone { .. }
                | Replacing::NewFirst { .. }
                | Replacing::OldLeft { .. }
                | Replacing::Undoing { .. },
            )
            | None => identifier,
        }
    }
}
