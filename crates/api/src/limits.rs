use ucp_access::SCOPES_MAX;
use ucp_app::{
    ALL_BODIES_MAX_BYTES, ALL_MAX_BYTES, BEYOND_MAX_BYTES, CALLER_BODIES_MAX_BYTES,
    CALLER_MAX_BYTES, SMALL_MAX_BYTES,
};
use ucp_model::{Beyond, ErrorCode, Limit, MAX_TAGS, Most, TAG_VALUE_MAX_CHARS};
use ucp_rates::{CALLERS, SCOPES};

use crate::canonical_path::URI_MAX_BYTES;
use crate::context::REQUEST_ID_MAX_BYTES;
use crate::json::{
    BODY_MAX_BYTES, BODY_TIMEOUT, DEPTH_MAX, LARGE_BODY_MAX_BYTES, LARGE_VALUES_MAX,
    NAME_MAX_CHARS, VALUES_MAX,
};
use crate::large_bodies::LARGE_BODIES;
use crate::logged::CHARS_MAX;
use crate::query::TOP_MAX;
use crate::validation::TEXT_MAX_CHARS;
use crate::wire::{
    EVENT_ID_MAX_CHARS, EVENT_MOVES_MAX, EVENTS_MAX, SETTINGS_MAX_BYTES, TAG_KEY_MAX_CHARS,
};

/// What planes, groups and credentials are refused with, for all that is wrong with them at once.
const NOT_AS_SPECIFIED: Beyond = Beyond::refused_at(
    400,
    ErrorCode::HttpRequestPayloadAPISpecValidationFailed,
    "ucp/openapi",
);

/// What is limited of requests, whatever they ask for.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "url",
        what: "The path and the query of a URL",
        most: Most::Bytes(URI_MAX_BYTES),
        beyond: Beyond::refused(400, ErrorCode::BadRequest),
    },
    Limit {
        name: "body",
        what: "The body of a request",
        most: Most::Bytes(BODY_MAX_BYTES),
        beyond: Beyond::refused(413, ErrorCode::RequestEntityTooLarge),
    },
    Limit {
        name: "refactor-body",
        what: "The body of a refactor",
        most: Most::Bytes(LARGE_BODY_MAX_BYTES),
        beyond: Beyond::refused(413, ErrorCode::RequestEntityTooLarge),
    },
    Limit {
        name: "refactor-body-values",
        what: "The values of such a body",
        most: Most::Number(LARGE_VALUES_MAX),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/{place}"),
    },
    Limit {
        name: "refactor-events",
        what: "The events of `history` in such a body",
        most: Most::Number(EVENTS_MAX),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/history"),
    },
    Limit {
        name: "refactor-event-moves",
        what: "The moves of all these events",
        most: Most::Number(EVENT_MOVES_MAX),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/history"),
    },
    Limit {
        name: "refactor-event-name",
        what: "The name of such an event",
        most: Most::Characters(EVENT_ID_MAX_CHARS),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/history/{index}/id"),
    },
    Limit {
        name: "bodies-in-flight",
        what: "The bodies of one caller's requests that are in memory until they are read. Callers who are not authenticated are told apart by their addresses",
        most: Most::Bytes(CALLER_BODIES_MAX_BYTES),
        beyond: Beyond::refused(429, ErrorCode::TooManyRequests),
    },
    Limit {
        name: "all-bodies-in-flight",
        what: "The same of all callers. A quarter of it is kept for bodies of 2 MiB at most",
        most: Most::Bytes(ALL_BODIES_MAX_BYTES),
        beyond: Beyond::refused(429, ErrorCode::TooManyRequests),
    },
    Limit {
        name: "work-in-flight",
        what: "The memory that one caller's requests work with, as estimated: for a body, six times its bytes and 100 for each of its values, or ten times for a set and an order of a service, and 1,700 bytes for each check in alternatives while it is judged; for a set, what is known of the resources that it lists, in mode `Complete` of all of its group, and four times what they take of what they refer to; for a refactor, what is known of the resources in its groups; for a what-if, four times what it shows; for a plan that is carried out or shown, four or six times its text; for the record of a refactor, five times that; for a page of a list, five times its items; for what is read from AWS, once that. A request waits two seconds for it",
        most: Most::Bytes(CALLER_MAX_BYTES),
        beyond: Beyond::refused(429, ErrorCode::TooManyRequests),
    },
    Limit {
        name: "all-work-in-flight",
        what: "The same of all callers, with what is kept for those that begin with 2 MiB at most",
        most: Most::Bytes(ALL_MAX_BYTES),
        beyond: Beyond::refused(429, ErrorCode::TooManyRequests),
    },
    Limit {
        name: "small-work-in-flight",
        what: "What of that is kept for those that begin with 2 MiB at most, and that they have when the rest is taken: a quarter of it for each caller",
        most: Most::Bytes(SMALL_MAX_BYTES),
        beyond: Beyond::refused(429, ErrorCode::TooManyRequests),
    },
    Limit {
        name: "work-beyond",
        what: "What a request that alone has all of its caller's may read besides. One request at a time has any of it",
        most: Most::Bytes(BEYOND_MAX_BYTES),
        beyond: Beyond::refused(413, ErrorCode::RequestEntityTooLarge),
    },
    Limit {
        name: "large-bodies",
        what: "The bodies of refactors that are larger than others may be, and that are worked on at once. Each caller waits with one",
        most: Most::Number(LARGE_BODIES),
        beyond: Beyond::Told("Others wait half a minute. Then the reply is 503."),
    },
    Limit {
        name: "body-time",
        what: "The time in which a body must arrive",
        most: Most::Time(BODY_TIMEOUT),
        beyond: Beyond::refused(408, ErrorCode::RequestTimeout),
    },
    Limit {
        name: "body-depth",
        what: "The levels of a body; the body itself is the first",
        most: Most::Number(DEPTH_MAX),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/{place}"),
    },
    Limit {
        name: "body-values",
        what: "The values of a body: itself, its members and elements, and what is in them",
        most: Most::Number(VALUES_MAX),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/{place}"),
    },
    Limit {
        name: "member-name",
        what: "The name of a member of a body",
        most: Most::Characters(NAME_MAX_CHARS),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/{place}"),
    },
    Limit {
        name: "writes",
        what: "The requests a second of a caller that change something in a resource group, or in an account and region; each resource of a set and of an import counts; 0 is no limit",
        most: Most::Flag("--write-rate"),
        beyond: Beyond::refused(429, ErrorCode::TooManyRequests),
    },
    Limit {
        name: "aws-reads",
        what: "The requests a second of a caller that read from AWS in an account and region, or validate what would be put there; each resource of a set counts; 0 is no limit",
        most: Most::Flag("--aws-read-rate"),
        beyond: Beyond::refused(429, ErrorCode::TooManyRequests),
    },
    Limit {
        name: "counted-callers",
        what: "The callers whose requests are counted for these rates",
        most: Most::Number(CALLERS),
        beyond: Beyond::Told("The count of the caller who has not asked for longest begins anew."),
    },
    Limit {
        name: "counted-scopes",
        what: "The groups, and the accounts and regions, in which the requests of a caller are counted",
        most: Most::Number(SCOPES),
        beyond: Beyond::Told("Those beyond share one count."),
    },
    Limit {
        name: "page",
        what: "`top`, the items of a page of a list",
        most: Most::Number(TOP_MAX),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "top"),
    },
    Limit {
        name: "text",
        what: "A text that a plane, a group or a credential must have, such as `location` and `roleARN`",
        most: Most::Characters(TEXT_MAX_CHARS),
        beyond: NOT_AS_SPECIFIED,
    },
    Limit {
        name: "grant-scopes",
        what: "The scopes of a role assignment, of an entry of `[[grants]]` and of a token",
        most: Most::Number(SCOPES_MAX),
        beyond: NOT_AS_SPECIFIED,
    },
    Limit {
        name: "arm-tags",
        what: "`tags` of a plane, a group or a credential, and `defaultTags` of a group, each",
        most: Most::Number(MAX_TAGS),
        beyond: NOT_AS_SPECIFIED,
    },
    Limit {
        name: "arm-tags-update",
        what: "The same of a group, after a PATCH",
        most: Most::Number(MAX_TAGS),
        beyond: Beyond::refused(400, ErrorCode::BadRequest),
    },
    Limit {
        name: "arm-tag-key",
        what: "The key of one of `tags` of a plane, a group or a credential",
        most: Most::Characters(TAG_KEY_MAX_CHARS),
        beyond: NOT_AS_SPECIFIED,
    },
    Limit {
        name: "default-tag-key",
        what: "The key of one of `defaultTags` of a group",
        most: Most::Characters(ucp_model::TAG_KEY_MAX_CHARS),
        beyond: NOT_AS_SPECIFIED,
    },
    Limit {
        name: "arm-tag-value",
        what: "The value of one of these tags",
        most: Most::Characters(TAG_VALUE_MAX_CHARS),
        beyond: NOT_AS_SPECIFIED,
    },
    Limit {
        name: "plane-settings",
        what: "`properties` of a plane as JSON",
        most: Most::Bytes(SETTINGS_MAX_BYTES),
        beyond: NOT_AS_SPECIFIED,
    },
    Limit {
        name: "request-id",
        what: "`x-ms-correlation-request-id` and `x-ms-client-request-id`",
        most: Most::Bytes(REQUEST_ID_MAX_BYTES),
        beyond: Beyond::Told("`ucp` makes a correlation id of its own, and ignores the other one."),
    },
    Limit {
        name: "logged-path",
        what: "The path of a request, in the log",
        most: Most::Characters(CHARS_MAX),
        beyond: Beyond::Told("The log has its start, and `…`."),
    },
    Limit {
        name: "request-time",
        what: "The time in which a request is answered, besides the longer of `--verdict-wait` and `--group-delete-wait`",
        most: Most::Flag("--request-timeout"),
        beyond: Beyond::refused(503, ErrorCode::ServiceUnavailable),
    },
    Limit {
        name: "verdict-wait",
        what: "The time that a put, delete or import looks at AWS and waits for its operation",
        most: Most::Flag("--verdict-wait"),
        beyond: Beyond::Told("The reply is 201 or 202, with URLs to poll."),
    },
    Limit {
        name: "group-delete-wait",
        what: "The time that a DELETE of a resource group waits for its end",
        most: Most::Flag("--group-delete-wait"),
        beyond: Beyond::Told("The reply is 202, with URLs to poll."),
    },
];
