//! What a service broker offers: the files that describe it, and what follows from them.
//!
//! [`Offerings::read`] reads the files, and says all that is wrong with them. From an [`Offering`] come the catalog, the
//! judgement of the parameters of a request ([`Plan::judge_create`], [`Plan::judge_update`], [`Plan::judge_binding`]), and
//! the resources that an instance or a binding declares ([`Plan::instance`], [`Plan::binding`]): members of a set, whose
//! references are the expressions of [`ucp_set`].
//!
//! What a request brings is never read as a template or as an expression.
//!
//! Nothing here performs I/O.

mod binding;
mod body;
mod catalog;
mod context;
mod duration;
mod fields;
mod layers;
mod limits;
mod offering;
mod offerings;
mod parameter;
mod place;
mod plan;
mod problem;
mod reading;
mod resource;
mod schema;
mod source;
mod template;
mod version;

pub use binding::{Binding, BoundSet};
pub use context::{Context, Randoms};
pub use limits::LIMITS;
pub use offering::Offering;
pub use offerings::Offerings;
pub use parameter::Refusal;
pub use plan::{Edge, Plan};
pub use problem::Problem;
pub use resource::Resource;
pub use schema::judge::Objection;
pub use source::SourceFile;
pub use template::Unfilled;
