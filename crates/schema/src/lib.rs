//! Schemas of resource types: their properties and the classes of these, the primary identifier, and validation of
//! models. A [`Declaration`] has the properties of a request, after the checks that do not depend on live state.
//!
//! [`Catalogue`] finds a type's [`ResourceSchema`]; the public types of us-east-1 are embedded (see `data/NOTICE`).
//! [`ResourceTypes`] also finds other types. Nothing here performs I/O: schemas are given as text.

mod catalogue;
mod compiled;
mod declaration;
mod draft7;
mod embedded;
mod error;
mod identifier;
mod limits;
mod model;
mod names_and_types;
mod outline;
mod path;
mod path_set;
mod pattern;
mod places;
mod recent;
mod refusal;
mod resource_types;
mod schema;
mod spelling;
pub mod subschema;
mod tagging;
mod transform;
mod unknown;
mod values;
mod violation;
mod visits;

pub use catalogue::Catalogue;
pub use compiled::{Classes, Cursor, ListShape, SchemaWarning, Shape, Types};
pub use declaration::{Declaration, MAX_DECLARED_CHARS, PROVISIONING_STATE, Unknown};
pub use error::SchemaError;
pub use identifier::IdentifierOutcome;
pub use limits::LIMITS;
pub use outline::Property;
pub use path::{PropertyPath, Segment};
pub use pattern::{Patterns, in_our_dialect};
pub use recent::RecentSchemas;
pub use resource_types::{ResourceTypes, UnknownType};
pub use schema::{Handlers, Member, ReplacementStrategy, ResourceSchema};
pub use transform::Transform;
pub use unknown::{
    holds_unknown, is_unknown, make_declared_unknown, make_unknown, reserved_member, unknown,
    unknown_pointers,
};
pub use values::Known;
pub use violation::{Violation, ViolationCode};
pub use visits::Checks;
