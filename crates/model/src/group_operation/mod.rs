//! Operations on whole resource groups: deleting one with what it owns, importing many resources at once. Each change of
//! a resource is an ordinary [`Operation`](crate::Operation), a child; this one starts them, waits for them and says what came of them.

mod decide;
mod decision;
mod deletion;
mod import;
mod naming;
mod record;
mod step;
mod task;

pub use decide::decide;
pub use decision::{Child, Decision, Finish, Moved, Next, Refusal, Survey};
pub use record::{GroupOperation, Progress};
pub use step::CHILDREN_AT_ONCE;
pub use task::{ImportItem, ImportOutcome, Task};
