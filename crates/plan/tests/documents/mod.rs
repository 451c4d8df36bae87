//! A policy document and its places.

use serde_json::{Value, json};
use ucp_model::json::walk;

/// A policy in a form that is not the canonical one: single values in place of lists, and sets in another order.
pub(crate) fn policy() -> Value {
    json!({
        "Version": "2012-10-17",
        "Statement": [
            {"Sid": "b", "Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"},
                "Action": ["s3:PutObject", "s3:GetObject"], "Resource": ["arn:aws:s3:::b/*", "arn:aws:s3:::a"],
                "Condition": {"StringEquals": {"aws:SourceAccount": "111122223333"}}},
            {"Sid": "a", "Effect": "Deny", "NotPrincipal": "*", "NotAction": "s3:*", "Resource": "*"},
        ],
    })
}

/// The places of a document at which a value can be unknown: its members, and the elements of its lists. A policy is one by
/// its statements and their effects.
pub(crate) fn open_places(document: &Value) -> Vec<String> {
    let mut places = Vec::new();
    walk(document, |place, _| {
        let place = place.to_string();
        if !place.is_empty() && !place.ends_with("/Effect") {
            places.push(place);
        }
    });
    places
}
