//! Single resources: read, put, deleted, imported.

pub(crate) mod delete;
pub(crate) mod import;
pub(crate) mod planned_delete;
pub(crate) mod planned_put;
pub(crate) mod put;
pub(crate) mod read;
pub(crate) mod what_if;

use std::sync::Arc;

pub use self::delete::{DeleteOutcome, DeleteResource};
pub use self::import::{ImportOutcome, ImportResource};
pub use self::put::PutOutcome;
pub use self::read::{LivePage, LiveResource, ReadResource};
use crate::{Ground, GroupCases, Looks, OperationCases, PlanCases, TypeCases};

/// Single resources.
pub struct ResourceCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) types: Arc<TypeCases>,
    pub(crate) groups: Arc<GroupCases>,
    pub(crate) operations: Arc<OperationCases>,
    pub(crate) looks: Arc<Looks>,
    pub(crate) plans: Arc<PlanCases>,
}
