//! How much the members of a set take of what they refer to. A small set can refer to a large value from each of its members.

use serde_json::Value;
use ucp_model::{Detail, ErrorCode, Failure};

use crate::Link;
use crate::detail_code::DetailCode;
use crate::expression::visit;
use crate::limits::REFERRED_MAX_BYTES;
use crate::resolve::links_of;

/// How many places an error names.
const NAMED_MAX: usize = 10;

/// What the members of a set have taken of what they refer to.
#[derive(Clone, Debug, Default)]
pub struct Referred {
    bytes: usize,
    /// The places that have taken the most, with how many bytes.
    largest: Vec<(usize, String)>,
}

impl Referred {
    /// Begins with what members have taken before.
    pub fn since(bytes: usize) -> Self {
        Self {
            bytes,
            largest: Vec::new(),
        }
    }

    /// Returns how many bytes are taken.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the values that a linked value refers to, before any is put in. `above` is its place, and `size_of` returns how many
    /// bytes a value has as JSON. One that is not known yet has none.
    ///
    /// # Errors
    ///
    /// All members would take more than [`REFERRED_MAX_BYTES`].
    pub fn take(
        &mut self,
        above: &str,
        value: &Value,
        mut size_of: impl FnMut(&Link) -> usize,
    ) -> Result<(), Failure> {
        let mut is_too_much = false;
        visit(value, |place, read| {
            let Ok(expression) = read else { return };
            if is_too_much {
                return;
            }
            let bytes: usize = links_of(&expression).map(|link| size_of(&link)).sum();
            self.bytes = self.bytes.saturating_add(bytes);
            self.note(bytes, || format!("{above}{place}"));
            is_too_much = self.bytes > REFERRED_MAX_BYTES;
        });
        if is_too_much {
            Err(self.too_much())
        } else {
            Ok(())
        }
    }

    fn note(&mut self, bytes: usize, place: impl FnOnce() -> String) {
        let is_full = self.largest.len() == NAMED_MAX;
        let is_larger = self.largest.last().is_none_or(|(least, _)| bytes > *least);
        if bytes == 0 || is_full && !is_larger {
            return;
        }
        if is_full {
            self.largest.pop();
        }
        let at = self.largest.partition_point(|(other, _)| *other >= bytes);
        self.largest.insert(at, (bytes, place()));
    }

    fn too_much(&self) -> Failure {
        let details = self.largest.iter().map(|(bytes, place)| {
            let message = format!("It takes {bytes} bytes of what it refers to.");
            Detail::at(DetailCode::TooMany, message, place.clone())
        });
        let message = format!(
            "The resources of the set would take more than {REFERRED_MAX_BYTES} bytes of what they refer to. The details name those that take the most so far. Refer to smaller values, or apply the set in parts."
        );
        Failure::new(ErrorCode::InvalidRequest, message).with_details(details.collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/a";

    fn refers(times: usize) -> Value {
        (0..times).map(|_| json!({ "$reference": ID })).collect()
    }

    #[test]
    fn so_much_is_taken_and_no_more() {
        let mut referred = Referred::default();
        referred
            .take("/resources/0", &refers(16), |_| 1 << 20)
            .unwrap();
        assert_eq!(referred.bytes(), REFERRED_MAX_BYTES);
        // What is not known takes nothing.
        referred.take("/resources/1", &refers(1), |_| 0).unwrap();
        let failure = referred
            .take(
                "/resources/2",
                &json!({"A": {"$concat": ["", {"$reference": ID}]}}),
                |_| 2,
            )
            .unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidRequest.as_str());
        assert_eq!(failure.details.len(), NAMED_MAX);
        assert_eq!(failure.details[0].target.as_deref(), Some("/resources/0/0"));
    }

    #[test]
    fn the_largest_are_named_first() {
        let mut referred = Referred::since(REFERRED_MAX_BYTES - 30);
        for (place, length) in [("/0", 3), ("/1", 10), ("/2", 5)] {
            referred
                .take(place, &json!({ "$reference": ID }), |_| length)
                .unwrap();
        }
        let refused = referred.take("/3", &json!({ "$reference": ID }), |_| 16);
        let places = refused.unwrap_err().details.into_iter();
        let places: Vec<_> = places.filter_map(|detail| detail.target).collect();
        assert_eq!(places, ["/3", "/1", "/2", "/0"]);
    }
}
