//! Operations on whole resource groups: deleting one with what it owns, importing many resources at once. Each change of
//! a resource is an ordinary operation, a child; this one starts them, waits for them and says what came of them.

mod decide;
mod decision;
mod deletion;
mod import;
mod naming;
mod step;
mod survey;
mod task;
mod work;

pub use decide::decide;
pub use decision::{Decision, Finish, Moved, Next};
pub use step::CHILDREN_AT_ONCE;
pub use survey::{Child, Refusal, Survey};
pub use task::{ImportItem, ImportOutcome, Task};
pub use work::{GroupState, GroupWork};
