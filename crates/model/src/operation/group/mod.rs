//! Operations on whole resource groups: deleting a group with the resources it owns, importing many resources at once,
//! applying a set of declarations.
//! Each change to a resource is an ordinary operation, a child; the parent starts the children, waits for them and
//! reports their outcomes.

mod application;
mod apply;
mod decide;
mod decision;
mod deletion;
mod import;
mod naming;
mod step;
mod survey;
mod task;
mod waves;
mod work;

pub use application::{
    Application, ApplyMember, Deployment, MemberGoal, MemberState, MemberStatus, MovedFrom,
    OnFailure,
};
pub use apply::MEMBERS_AT_ONCE;
pub use decide::decide;
pub use decision::{Decision, Finish, Moved, Next};
pub use naming::{are_related, is_of_tags};
pub use step::CHILDREN_AT_ONCE;
pub(super) use step::given_up;
pub use survey::{Child, ChildGoal, Refusal, Survey};
pub use task::{ImportItem, ImportOutcome, Task};
pub use work::{GroupState, GroupWork};
