use ucp_model::{Beyond, ErrorCode, Limit, Most};

use crate::error::MAX_BYTES;
use crate::pattern::{MAX_COMPILED, MAX_MATCHED_CHARS};
use crate::recent::RECENT_MAX_BYTES;
use crate::subschema::MAX_APPLIED;
use crate::visits::{MAX_IN_ALTERNATIVES, MAX_VISITS};

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
        name: "compiled-schemas",
        what: "The compiled schemas that a process keeps, estimated as 46 times their text and what their patterns take up; those in use stay besides",
        most: Most::Bytes(RECENT_MAX_BYTES),
        beyond: Beyond::Told(
            "The one that was used longest ago goes, and is compiled again when it is needed.",
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
        name: "judgement-alternatives",
        what: "Those of them that are by the alternatives of a schema",
        most: Most::Number(MAX_IN_ALTERNATIVES as usize),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/properties/{place}"),
    },
    Limit {
        name: "matched-string",
        what: "A string that must match a pattern, if its schema has no `maxLength`",
        most: Most::Characters(MAX_MATCHED_CHARS),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/properties/{place}"),
    },
];
