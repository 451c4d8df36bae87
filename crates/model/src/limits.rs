use crate::default_tags::{MAX_TAGS, TAG_KEY_MAX_CHARS, TAG_VALUE_MAX_CHARS};
use crate::failure::MAX_DETAILS;
use crate::ids::{
    ACCOUNT_MAX_CHARS, ALIAS_MAX_CHARS, GROUP_NAME_MAX_CHARS, IDENTIFIER_MAX_CHARS,
    PLANE_NAME_MAX_CHARS, REGION_MAX_CHARS,
};
use crate::{Beyond, ErrorCode, Limit, Most};

/// What is limited of names and tags, wherever they are.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "plane-name",
        what: "The name of a plane or a credential",
        most: Most::Characters(PLANE_NAME_MAX_CHARS),
        beyond: Beyond::refused_at(
            400,
            ErrorCode::HttpRequestPayloadAPISpecValidationFailed,
            "ucp/openapi",
        ),
    },
    Limit {
        name: "group-name",
        what: "The name of a resource group",
        most: Most::Characters(GROUP_NAME_MAX_CHARS),
        beyond: Beyond::refused_at(
            400,
            ErrorCode::HttpRequestPayloadAPISpecValidationFailed,
            "ucp/openapi",
        ),
    },
    Limit {
        name: "alias",
        what: "An alias, in `trackedBy` or in `alias`",
        most: Most::Characters(ALIAS_MAX_CHARS),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/{member}"),
    },
    Limit {
        name: "identifier",
        what: "The primary identifier of an AWS resource",
        most: Most::Characters(IDENTIFIER_MAX_CHARS),
        beyond: Beyond::refused(400, ErrorCode::BadRequest),
    },
    Limit {
        name: "account",
        what: "The account in a path",
        most: Most::Characters(ACCOUNT_MAX_CHARS),
        beyond: Beyond::refused(400, ErrorCode::BadRequest),
    },
    Limit {
        name: "region",
        what: "The region in a path",
        most: Most::Characters(REGION_MAX_CHARS),
        beyond: Beyond::refused(400, ErrorCode::BadRequest),
    },
    Limit {
        name: "tags",
        what: "`tags` and `defaultTags` of a put, each",
        most: Most::Number(MAX_TAGS),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/{member}"),
    },
    Limit {
        name: "tag-key",
        what: "The key of a tag of a put",
        most: Most::Characters(TAG_KEY_MAX_CHARS),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/{member}"),
    },
    Limit {
        name: "tag-value",
        what: "The value of a tag of a put",
        most: Most::Characters(TAG_VALUE_MAX_CHARS),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/{member}"),
    },
    Limit {
        name: "details",
        what: "The `details` of an error",
        most: Most::Number(MAX_DETAILS),
        beyond: Beyond::Told("One more detail says how many are left out."),
    },
];
