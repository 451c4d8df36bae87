use ucp_cpu_pool::{MAX_RUN, MAX_WAIT};
use ucp_look::PLAN_MAX_BYTES;
use ucp_model::{APPROVALS_MAX, Beyond, ErrorCode, Limit, Most};
use ucp_refactor::RESOURCES_MAX;
use ucp_schema::MAX_DECLARED_CHARS;
use ucp_store::{BINDINGS_MAX, REFACTORS_MAX};

use crate::allowances::quotas::SCOPE_MAX;
use crate::changes::SET_CHECKS_MAX;
use crate::groups::group_operations::{ITEMS_MAX, TYPES_MAX};
use crate::listed::PAGE_MAX_BYTES;
use crate::looks::looking::LOOKING_TIME;
use crate::permissions::known_assignments::{FRESH, GRACE};
use crate::plans::kept_plans::{PLAN_LIFETIMES, READERS_PLAN_LIFETIME};
use crate::refactors::{self, DEPLOYED_MAX_BYTES};
use crate::sets::{SHOWN_MAX_BYTES, UNLISTED_MAX};

/// What happens to the plans of a caller who asks for more.
const MAKE_ROOM: &str = "Those go that were asked for first. Who is not authenticated gets 429 [`QuotaExceeded`](errors/QuotaExceeded.md) instead, until some have expired.";

/// What is limited of what requests ask for, and of what they leave behind.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "properties",
        what: "`properties` as JSON, with the default tags",
        most: Most::Characters(MAX_DECLARED_CHARS),
        beyond: Beyond::refused_at(413, ErrorCode::RequestEntityTooLarge, "/properties"),
    },
    Limit {
        name: "page-bytes",
        what: "The items of a page of references, operations, groups, planes or refactors, as JSON",
        most: Most::Bytes(PAGE_MAX_BYTES),
        beyond: Beyond::Told("The page ends earlier, after one item at least."),
    },
    Limit {
        name: "service-bindings",
        what: "The bindings of a service instance",
        most: Most::Number(BINDINGS_MAX),
        beyond: Beyond::Told("403 `QuotaExceeded`, in the shape of the Open Service Broker API."),
    },
    Limit {
        name: "import-resources",
        what: "The resources of an import into a group",
        most: Most::Number(ITEMS_MAX),
        beyond: Beyond::refused_at(400, ErrorCode::BadRequest, "/resources"),
    },
    Limit {
        name: "import-types",
        what: "The types of these resources, as counted for each account and region",
        most: Most::Number(TYPES_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::BadRequest, "/resources/{index}"),
    },
    Limit {
        name: "set-types",
        what: "The types of the resources of a set, as counted for each account and region",
        most: Most::Number(TYPES_MAX),
        beyond: Beyond::refused_in_detail(
            400,
            ErrorCode::InvalidRequest,
            "/resources/{index}/type",
        ),
    },
    Limit {
        name: "set-judgement",
        what: "The checks of all resources of a set, or of all that a refactor deploys: each is of a value by a schema",
        most: Most::Number(SET_CHECKS_MAX as usize),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/resources/{index}"),
    },
    Limit {
        name: "set-unlisted",
        what: "The resources that a set in mode `Complete` deletes without listing them",
        most: Most::Number(UNLISTED_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/mode"),
    },
    Limit {
        name: "refactor-groups",
        what: "The groups that a refactor names",
        most: Most::Number(refactors::GROUPS_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::BadRequest, "/groups"),
    },
    Limit {
        name: "refactor-resources",
        what: "The resources that a refactor declares, and those in the groups that it names, each",
        most: Most::Number(RESOURCES_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::BadRequest, "/groups"),
    },
    Limit {
        name: "refactor-types",
        what: "The types of all these resources, as counted for each account and region",
        most: Most::Number(refactors::TYPES_MAX),
        beyond: Beyond::refused(400, ErrorCode::BadRequest),
    },
    Limit {
        name: "refactor-puts",
        what: "The resources that a refactor with `deploy` creates and updates",
        most: Most::Number(ucp_set::MEMBERS_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::BadRequest, "/groups"),
    },
    Limit {
        name: "refactor-plans",
        what: "The plans of refactors that are kept of a caller, and that nobody has applied",
        most: Most::Number(refactors::PLANS_MAX),
        beyond: Beyond::Told("The earliest ones go."),
    },
    Limit {
        name: "refactor-plan-bytes",
        what: "What they have, if each has as much as the latest one",
        most: Most::Bytes(refactors::PLANS_MAX_BYTES),
        beyond: Beyond::Told("The earliest ones go."),
    },
    Limit {
        name: "refactor-known",
        what: "What is known of the resources in the groups that a refactor names: their last declarations and what AWS has shown, as JSON",
        most: Most::Bytes(DEPLOYED_MAX_BYTES),
        beyond: Beyond::refused(400, ErrorCode::BadRequest),
    },
    Limit {
        name: "refactor-history",
        what: "The refactors in the history of the groups that a refactor names",
        most: Most::Number(REFACTORS_MAX),
        beyond: Beyond::Told(
            "The history has the events of the last ones, and a body with `history` is refused: 400 [`BadRequest`](errors/BadRequest.md).",
        ),
    },
    Limit {
        name: "planes",
        what: "The planes",
        most: Most::Flag("--quota-planes"),
        beyond: Beyond::refused_at(403, ErrorCode::QuotaExceeded, "/planes"),
    },
    Limit {
        name: "credentials",
        what: "The credentials of a plane",
        most: Most::Flag("--quota-credentials"),
        beyond: Beyond::refused_at(403, ErrorCode::QuotaExceeded, "/planes/aws/{plane}"),
    },
    Limit {
        name: "role-assignments",
        what: "The role assignments, of all planes. The last tenth is for owners of the plane or of everything",
        most: Most::Flag("--quota-role-assignments"),
        beyond: Beyond::refused_at(403, ErrorCode::QuotaExceeded, "/planes"),
    },
    Limit {
        name: "caller-role-assignments",
        what: "Those of them that one caller has given first. All who are not authenticated are one caller",
        most: Most::Flag("--quota-caller-role-assignments"),
        beyond: Beyond::refused(403, ErrorCode::QuotaExceeded),
    },
    Limit {
        name: "scope-role-assignments",
        what: "Those of them that name one scope",
        most: Most::Number(SCOPE_MAX),
        beyond: Beyond::refused(403, ErrorCode::QuotaExceeded),
    },
    Limit {
        name: "role-assignment-age",
        what: "The time that a role which was taken away can still be used in other processes",
        most: Most::Time(FRESH),
        beyond: Beyond::refused(403, ErrorCode::AuthorizationFailed),
    },
    Limit {
        name: "role-assignment-grace",
        what: "The time that role assignments are used beyond that while the database cannot be read",
        most: Most::Time(GRACE),
        beyond: Beyond::refused(503, ErrorCode::ServiceUnavailable),
    },
    Limit {
        name: "groups",
        what: "The resource groups of a plane",
        most: Most::Flag("--quota-groups"),
        beyond: Beyond::refused_at(403, ErrorCode::QuotaExceeded, "/planes/radius/{plane}"),
    },
    Limit {
        name: "references",
        what: "The references of a resource group",
        most: Most::Flag("--quota-references"),
        beyond: Beyond::refused_at(
            403,
            ErrorCode::QuotaExceeded,
            "/planes/radius/{plane}/resourcegroups/{group}",
        ),
    },
    Limit {
        name: "leftovers",
        what: "The leftovers of a resource group, beyond which it takes no puts; those of an account and region, beyond which that takes no puts without `trackedBy`",
        most: Most::Flag("--quota-leftovers"),
        beyond: Beyond::refused_at(
            403,
            ErrorCode::QuotaExceeded,
            "/planes/radius/{plane}/resourcegroups/{group}",
        ),
    },
    Limit {
        name: "group-operations",
        what: "The operations under way in a resource group; deletes are accepted up to twice as many",
        most: Most::Flag("--quota-group-operations"),
        beyond: Beyond::refused_at(
            429,
            ErrorCode::QuotaExceeded,
            "/planes/radius/{plane}/resourcegroups/{group}",
        ),
    },
    Limit {
        name: "caller-operations",
        what: "The operations under way that one caller has requested; deletes are accepted up to twice as many. All who are not authenticated are one caller",
        most: Most::Flag("--quota-caller-operations"),
        beyond: Beyond::refused(429, ErrorCode::QuotaExceeded),
    },
    Limit {
        name: "operations",
        what: "All operations under way; deletes are accepted up to twice as many",
        most: Most::Flag("--quota-operations"),
        beyond: Beyond::refused(429, ErrorCode::QuotaExceeded),
    },
    Limit {
        name: "caller-plans",
        what: "The plans that one caller has asked for, in bytes; each counts 4,096 at least. Those that were reviewed or carried out do not count. All who are not authenticated are one caller",
        most: Most::Flag("--quota-caller-plan-bytes"),
        beyond: Beyond::Told(MAKE_ROOM),
    },
    Limit {
        name: "group-plans",
        what: "Those of them that are about one resource group",
        most: Most::Flag("--quota-group-plan-bytes"),
        beyond: Beyond::Told(MAKE_ROOM),
    },
    Limit {
        name: "plan",
        what: "A plan: what it shows, what it was made for, and what was declared, as JSON",
        most: Most::Bytes(PLAN_MAX_BYTES),
        beyond: Beyond::Told("the reply to the what-if has no `planId`, and a warning says so"),
    },
    Limit {
        name: "plan-lifetime",
        what: "The time that a plan may be used: `whatIfSettings.planLifetime`, by default an hour",
        most: Most::Time(PLAN_LIFETIMES[1]),
        beyond: Beyond::refused(400, ErrorCode::BadRequest),
    },
    Limit {
        name: "plan-lifetime-reader",
        what: "The same for a caller who could not carry the plan out",
        most: Most::Time(READERS_PLAN_LIFETIME),
        beyond: Beyond::Told("The plan expires earlier, as `expiresAt` of the reply says."),
    },
    Limit {
        name: "plan-approvals",
        what: "The callers who approve a plan",
        most: Most::Number(APPROVALS_MAX),
        beyond: Beyond::refused(409, ErrorCode::Conflict),
    },
    Limit {
        name: "judgement-wait",
        what: "The time that a declaration waits for a thread that judges it, if that is not done at once",
        most: Most::Time(MAX_WAIT),
        beyond: Beyond::refused(503, ErrorCode::ServiceUnavailable),
    },
    Limit {
        name: "judgement-time",
        what: "The time that judging a declaration takes, besides what it counts",
        most: Most::Time(MAX_RUN),
        beyond: Beyond::refused(503, ErrorCode::ServiceUnavailable),
    },
    Limit {
        name: "what-if-time",
        what: "The time in which a what-if looks at its resources",
        most: Most::Time(LOOKING_TIME),
        beyond: Beyond::Told("what was not looked at is shown as `Unsupported`"),
    },
    Limit {
        name: "what-if-shown",
        what: "The properties that the reply to a what-if of a set shows",
        most: Most::Bytes(SHOWN_MAX_BYTES),
        beyond: Beyond::Told("further changes are shown without their properties, with a warning"),
    },
    Limit {
        name: "read-wait",
        what: "The time that a read waits for AWS",
        most: Most::Flag("--read-timeout"),
        beyond: Beyond::refused(500, ErrorCode::Internal),
    },
];
