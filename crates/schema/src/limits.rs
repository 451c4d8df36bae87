use ucp_model::{Beyond, ErrorCode, Limit, Most};

use crate::error::MAX_BYTES;
use crate::pattern::{MAX_COMPILED, MAX_MATCHED_CHARS};
use crate::subschema::MAX_APPLIED;
use crate::visits::MAX_VISITS;

/// What is limited of schemas, and of the work to judge a declaration by one.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "schema",
        what: "The schema of a resource type",
        most: Most::Bytes(MAX_BYTES),
        beyond: Beyond::refused(400, ErrorCode::UnsupportedActionException),
    },
    Limit {
        name: "schema-patterns",
        what: "The compiled patterns of a schema; those of names are counted apart",
        most: Most::Bytes(MAX_COMPILED),
        beyond: Beyond::Told(
            "Further patterns match everything. AWS judges what they would have refused.",
        ),
    },
    Limit {
        name: "schema-combined",
        what: "The schemas that a schema combines for one value",
        most: Most::Number(MAX_APPLIED as usize),
        beyond: Beyond::refused(400, ErrorCode::UnsupportedActionException),
    },
    Limit {
        name: "judgement",
        what: "The checks of one declaration: each is of a value by a schema",
        most: Most::Number(MAX_VISITS as usize),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/properties/{place}"),
    },
    Limit {
        name: "matched-string",
        what: "A string that must match a pattern, if its schema has no `maxLength`",
        most: Most::Characters(MAX_MATCHED_CHARS),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/properties/{place}"),
    },
];
