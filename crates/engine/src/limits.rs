use ucp_model::{Beyond, ErrorCode, Limit, Most};
use ucp_store::CONDEMNED;

/// What is limited of operations and of what remains of them.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "steps",
        what: "The operations that a process works on at once; those of one account and region are at most half of them",
        most: Most::Flag("--workers"),
        beyond: Beyond::Told("Further ones wait for others to make room."),
    },
    Limit {
        name: "takeovers",
        what: "The workers in a row that do not come back from a step of an operation, while they do not wait for AWS; three from a plan that takes long",
        most: Most::Number(CONDEMNED as usize),
        beyond: Beyond::Failed(ErrorCode::Abandoned),
    },
    Limit {
        name: "operation-retention",
        what: "The time that an operation can be queried after its end",
        most: Most::Flag("--operation-retention"),
        beyond: Beyond::refused(404, ErrorCode::NotFound),
    },
    Limit {
        name: "history-retention",
        what: "The time that the history is kept",
        most: Most::Flag("--history-retention"),
        beyond: Beyond::Told("What is older is deleted."),
    },
    Limit {
        name: "audit-retention",
        what: "The time that the audit is kept in the database",
        most: Most::Flag("--audit-retention"),
        beyond: Beyond::Told("What is older is deleted."),
    },
];
