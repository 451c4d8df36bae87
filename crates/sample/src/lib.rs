//! For tests, benchmarks and fuzzing only: generates plausible and hostile declarations from a schema, and tells what they
//! take.
//!
//! The same seed gives the same document. Constraints that a schema cannot express, such as that a role must exist, are
//! not respected.

mod chance;
mod change;
mod choice;
mod cpu_time;
mod hostile;
mod text;
mod value;

use serde_json::{Map, Value};
use ucp_schema::ResourceSchema;

pub use change::changed;
pub use cpu_time::cpu_time;
pub use hostile::{disarranged, hostile};

use crate::chance::Chance;
use crate::value::Maker;

/// The maximum number of attempts. Alternatives are chosen at random, so some choices contradict each other.
const ATTEMPTS: u64 = 64;

/// Every so many attempts, but not in the first one, optional properties are omitted to avoid contradictions.
const FRUGAL: u64 = 3;

/// Generates properties to create a resource of this type: all required ones, some optional ones, and none that are
/// read-only. They pass [`ResourceSchema::validate_model`], unless the schema contradicts itself.
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
