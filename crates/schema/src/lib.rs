//! What the schema of a resource type says: which properties it has, of which classes they are, how its identifier is
//! made, and whether a document is a valid model of it. [`Declaration`] is what a request declares, once it is judged
//! whatever is live.
//!
//! [`Catalogue`] finds a type's [`ResourceSchema`]; the public types of us-east-1 are embedded (see `data/NOTICE`).
//! [`ResourceTypes`] finds those of other types too. Nothing here performs I/O: schemas come in as text.

mod catalogue;
mod compiled;
mod declaration;
mod draft7;
mod embedded;
mod error;
mod identifier;
mod model;
mod names_and_types;
mod path;
mod path_set;
mod pattern;
mod refusal;
mod resource_types;
mod schema;
mod spelling;
pub mod subschema;
mod tagging;
mod transform;
mod unknown;
mod violation;

pub use catalogue::Catalogue;
pub use compiled::{Classes, Cursor, ListShape, SchemaWarning, Shape, Types};
pub use declaration::Declaration;
pub use error::SchemaError;
pub use identifier::IdentifierOutcome;
pub use path::{PropertyPath, Segment};
pub use pattern::{Patterns, in_our_dialect};
pub use resource_types::{ResourceTypes, UnknownType};
pub use schema::{Handlers, Member, ReplacementStrategy, ResourceSchema};
pub use transform::Transform;
pub use unknown::{holds_unknown, is_unknown, unknown, unknown_pointers};
pub use violation::{Violation, ViolationCode};
