use ucp_model::{Beyond, ErrorCode, Limit, Most};

/// The maximum number of resources in a set.
pub const MEMBERS_MAX: usize = 500;
/// The maximum number of references in the properties of one resource, and in all outputs.
pub const REFERENCES_MAX: usize = 200;
/// The maximum number of names that a set uses and that are not its own.
pub const OUTSIDE_MAX: usize = 500;
/// The maximum number of parts of one `$concat`.
pub const CONCAT_PARTS_MAX: usize = 100;
/// What all members of a set may take of what they refer to, in bytes of JSON.
pub const REFERRED_MAX_BYTES: usize = 16 << 20;
/// The maximum number of outputs.
pub const OUTPUTS_MAX: usize = 100;

/// What is limited of sets.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "set-resources",
        what: "The resources of a set",
        most: Most::Number(MEMBERS_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/resources"),
    },
    Limit {
        name: "set-references",
        what: "The references in the properties of one resource of a set, and in its outputs",
        most: Most::Number(REFERENCES_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/resources/{index}"),
    },
    Limit {
        name: "set-outside",
        what: "The resources outside of a set that it refers to",
        most: Most::Number(OUTSIDE_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/resources"),
    },
    Limit {
        name: "set-referred",
        what: "What the resources of a set take of what they refer to, each time that they do: at the request as far as it is known, then as each of them is started",
        most: Most::Bytes(REFERRED_MAX_BYTES),
        beyond: Beyond::refused(400, ErrorCode::InvalidRequest),
    },
    Limit {
        name: "set-depends-on",
        what: "The names in `dependsOn` of one resource of a set",
        most: Most::Number(MEMBERS_MAX),
        beyond: Beyond::refused_in_detail(
            400,
            ErrorCode::InvalidRequest,
            "/resources/{index}/dependsOn",
        ),
    },
    Limit {
        name: "set-concat-parts",
        what: "The parts of one `$concat`",
        most: Most::Number(CONCAT_PARTS_MAX),
        beyond: Beyond::refused_in_detail(
            400,
            ErrorCode::InvalidRequest,
            "/resources/{index}/properties/{place}",
        ),
    },
    Limit {
        name: "set-outputs",
        what: "The outputs of a set",
        most: Most::Number(OUTPUTS_MAX),
        beyond: Beyond::refused_in_detail(400, ErrorCode::InvalidRequest, "/outputs"),
    },
];
