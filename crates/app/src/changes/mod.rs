//! Changes of resources: what they concern, what is wrong with that, how it is accepted, and what would become of it. Whoever changes
//! several resources of a group comes in here: sets, deployments of refactors, orders of the broker.

mod accepting;
mod drafts;
mod member;
mod resource_change;

use std::sync::Arc;

pub(crate) use self::accepting::{ChangeReason, GroupChange, applied};
pub(crate) use self::drafts::{Left, SET_CHECKS_MAX};
pub(crate) use self::member::{ChangeGoal, ChangeMember, CustomName};
pub use self::resource_change::{ChangeKind, ResourceChange, WhatIf};
use crate::{Allowances, Ground, OperationCases, TypeCases};

/// Changes of several resources of a group.
pub struct ChangeCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) allowances: Arc<Allowances>,
    pub(crate) types: Arc<TypeCases>,
    pub(crate) operations: Arc<OperationCases>,
}
