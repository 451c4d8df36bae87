//! The plan engine: desired × last applied × live × schema × mode → [`Plan`], and the judge that decides what to do
//! with it.
//!
//! Pure: no I/O, no clock, no randomness. A plan starts from the live model. Declared properties are merged into it,
//! properties that are no longer declared are removed, and everything else stays. The classes that the schema assigns
//! to properties decide the rest (`docs/adr/0008-plan-engine.md`).
//!
//! [`plan()`] walks the declaration and the live model, and produces one `edit` of the live model: a tree from which
//! the patch, the planned model and the changes are derived. The walk begins in `merge`. The other modules handle
//! special cases: `list`, `absent` for properties that are not live, `removal` for those no longer declared, `secrets`
//! for write-only and `fixed` for create-only values, `either_or` and `tidy` for values that AWS returns but does not
//! accept, `unread` for types without a read handler. `same` and `document` compare declared with live values across representations; `pairing` matches the
//! elements of lists.
//!
//! [`judge`] decides how a resource becomes as declared: nothing to do, a create, an update or a replacement, with the
//! document to send; or why that is impossible (`docs/adr/0014-one-judge.md`). Every command that puts, previews or
//! compares uses it.
//!
//! [`deltas`] tells what a plan changes, and whose changes these are.
//!
//! [`settled`] gives a model a form in which two that mean the same are equal.
//!
//! [`prove`] compares what a change has sent, and what was planned, with what AWS shows afterwards.

mod absent;
mod budget;
mod change;
mod conflict;
mod create;
mod delta;
mod desired;
mod document;
mod edit;
mod either_or;
mod fixed;
mod flatten;
mod found;
mod imported;
mod judge;
mod list;
mod merge;
mod pairing;
mod path;
mod plan;
mod planning;
mod prediction;
mod proof;
mod removal;
mod same;
mod secrets;
mod settled;
mod shown;
mod tags;
mod tidy;
mod unread;
mod warning;

pub use change::{Change, ChangeKind, Reason};
pub use conflict::declared_otherwise;
pub use delta::{Cause, Delta, Effect, Known, deltas};
pub use desired::{Desired, digests};
pub use flatten::{flatten, unflatten};
pub use imported::imported;
pub use judge::{Judgement, Live, Question, Subject, Verdict, judge};
pub use plan::{Action, Plan};
pub use planning::plan;
pub use proof::{Proven, prove, sent, unproven};
pub use settled::{
    Transition, first_departure, first_difference, first_difference_in, is_as_planned, settled,
    taken_back,
};
pub use shown::{applied, first_seen, left_by_failed_create};
pub use ucp_model::SENSITIVE;
pub use ucp_model::operation::UpdateMode as Mode;
pub use warning::{Warning, WarningCode};
