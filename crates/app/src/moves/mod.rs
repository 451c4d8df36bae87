//! Moves of references to other aliases and groups.

pub(crate) mod history;
pub(crate) mod instances;
pub(crate) mod of_set;
pub(crate) mod recording;

use std::sync::Arc;

use ucp_model::ReferenceId;

use crate::Ground;

/// Moves of references, by a refactor or with a set.
pub struct MoveCases {
    pub(crate) ground: Arc<Ground>,
}

/// Returns an address as users write it.
pub(crate) fn in_words(id: &ReferenceId) -> String {
    format!("{}/{}/{}", id.group.name, id.type_name.arm(), id.alias)
}
