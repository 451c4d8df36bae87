//! What requests see of resources, before anything is accepted.

pub(crate) mod looking;
pub(crate) mod settling;
pub(crate) mod values;

use std::sync::Arc;

use crate::{Allowances, Ground, LiveReader, TypeCases};

/// What requests see of resources.
pub struct Looks {
    pub(crate) ground: Arc<Ground>,
    pub(crate) allowances: Arc<Allowances>,
    pub(crate) types: Arc<TypeCases>,
    /// Reads of live resources.
    pub(crate) live: Arc<dyn LiveReader>,
}
