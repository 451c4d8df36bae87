//! The plan engine: desired × last applied × live × schema × mode → [`Plan`]; and the judge, who says what to do about it.
//!
//! Pure: no I/O, no clock, no chance. Live state is the base; what is declared is laid over it; what used to be declared
//! and no longer is, is taken away; everything else stays. The classes that the schema puts properties in decide the
//! rest (`docs/adr/0008-plan-engine.md`).
//!
//! [`plan()`] starts a walk that gives one `edit` of the live model, a tree that becomes the patch, the planned model and
//! the changes. The walk begins in `merge` and has a file for each thing it may meet: `list`, `absent` for what is not
//! live, `removal` for what is no longer declared, `secrets` for what is write-only, `fixed` for what is create-only,
//! `either_or` and `tidy` for what AWS returns and refuses. Whether AWS already has what is declared, in whatever form,
//! is answered in `same` and `document`; which element of a list is which in `pairing`.
//!
//! [`judge`] decides what is done to a resource so that it is as declared: nothing, a create, an update or a replacement,
//! with the document to send; or why that cannot be (`docs/adr/0014-one-judge.md`). Whoever puts, shows or compares asks it.

mod absent;
mod change;
mod create;
mod desired;
mod document;
mod edit;
mod either_or;
mod fixed;
mod flatten;
mod found;
mod judge;
mod list;
mod merge;
mod pairing;
mod path;
mod plan;
mod planning;
mod removal;
mod same;
mod secrets;
mod tags;
mod tidy;
mod warning;

pub use change::{Change, ChangeKind, Reason, SENSITIVE};
pub use desired::Desired;
pub use flatten::{flatten, unflatten};
pub use judge::{Judgement, Live, Question, Subject, Verdict, judge};
pub use plan::{Action, Plan};
pub use planning::plan;
pub use ucp_model::operation::UpdateMode as Mode;
pub use warning::{Warning, WarningCode};
