//! Resource groups, and the references in them.

pub(crate) mod group_operations;
pub(crate) mod leftovers;
pub(crate) mod references;
pub(crate) mod releasing;
pub(crate) mod resource_groups;

use std::sync::Arc;

pub use self::group_operations::{DeleteGroupOutcome, ImportGroupItem};
pub use self::references::GroupView;
pub use self::releasing::Released;
use crate::{Allowances, Ground, OperationCases, Permissions, TypeCases};

/// Resource groups, and the references in them.
pub struct GroupCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) allowances: Arc<Allowances>,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) types: Arc<TypeCases>,
    pub(crate) operations: Arc<OperationCases>,
}
