//! Plausible declarations, made up from a schema.
//!
//! They are for tests that must have something to say to every type. The same seed gives the same document. What a
//! schema cannot express (that a role must exist, say) a sample cannot know.

mod chance;
mod change;
mod shape;
mod text;
mod value;

use serde_json::{Map, Value};

pub use change::changed;

use crate::ResourceSchema;
use chance::Chance;
use value::Maker;

/// How often to try anew: alternatives are chosen blindly, so that some choices contradict each other.
const ATTEMPTS: u64 = 64;

/// The first attempts also give some of the properties that are optional.
const GENEROUS_ATTEMPTS: u64 = 8;

/// Properties with which a resource of this type could be created: all that are required, some that are not, none that
/// is read-only. [`ResourceSchema::validate_model`] finds nothing wrong with them, unless the schema contradicts
/// itself.
pub fn declaration(schema: &ResourceSchema, seed: u64) -> Value {
    let made = (0..ATTEMPTS).filter_map(|attempt| {
        let mut maker = Maker::new(schema, Chance::new(seed, attempt));
        maker.is_generous = attempt < GENEROUS_ATTEMPTS;
        maker.properties()
    });
    let mut last = Value::Object(Map::new());
    for properties in made {
        if schema.validate_model(&properties).is_empty() {
            return properties;
        }
        last = properties;
    }
    last
}
