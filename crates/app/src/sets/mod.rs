//! Sets of declarations: what is wrong with them, what is to be done, and applying them.

mod accepting;
mod apply;
mod judged;
mod judging;
mod moving;
mod obstacle;
mod outcome;
mod planned;
mod recorded;
mod same_resource;
mod unchanged;
mod what_if;

use std::sync::Arc;

pub(crate) use self::judging::UNLISTED_MAX;
pub(crate) use self::obstacle::{placed, refused_elsewhere};
pub use self::outcome::ApplyOutcome;
pub(crate) use self::what_if::SHOWN_MAX_BYTES;
use crate::{
    ChangeCases, Ground, Looks, MoveCases, OperationCases, PlanCases, ResourceCases, TypeCases,
};

/// Sets of declarations.
pub struct SetCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) types: Arc<TypeCases>,
    pub(crate) operations: Arc<OperationCases>,
    pub(crate) looks: Arc<Looks>,
    pub(crate) plans: Arc<PlanCases>,
    pub(crate) changes: Arc<ChangeCases>,
    pub(crate) moves: Arc<MoveCases>,
    pub(crate) resources: Arc<ResourceCases>,
}
