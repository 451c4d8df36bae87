//! For tests, benchmarks and fuzzing only: plausible declarations, made up from a schema.
//!
//! A test that walks every type needs something to declare. The same seed gives the same document. What a schema cannot
//! express (that a role must exist, say) a sample cannot know.

mod chance;
mod change;
mod choice;
mod text;
mod value;

use serde_json::{Map, Value};
use ucp_schema::ResourceSchema;

pub use change::changed;

use crate::chance::Chance;
use crate::value::Maker;

/// How often to try anew: alternatives are chosen blindly, so that some choices contradict each other.
const ATTEMPTS: u64 = 64;

/// Every so many attempts, and not the first one, optional properties are left out: fewer can contradict each other.
const FRUGAL: u64 = 3;

/// Properties with which a resource of this type could be created: all that are required, some that are not, none that
/// is read-only. [`ResourceSchema::validate_model`] finds nothing wrong with them, unless the schema contradicts
/// itself.
pub fn declaration(schema: &ResourceSchema, seed: u64) -> Value {
    let made = (0..ATTEMPTS).filter_map(|attempt| {
        let mut maker = Maker::new(schema, Chance::new(seed, attempt));
        maker.is_generous = attempt % FRUGAL != FRUGAL - 1;
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
