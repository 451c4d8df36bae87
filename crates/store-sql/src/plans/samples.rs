//! The rows, and the values of each statement.

use std::collections::BTreeMap;

use crate::database::{Value, values};

/// The references of a group, and the operations on them.
const IN_GROUP: u64 = 20;
/// The references of a service instance, and of its bindings.
const OF_INSTANCE: u64 = 10;
/// The credentials of a plane.
const IN_PLANE: u64 = 100;
/// Some operations have children, half of which are live.
const CHILDREN: u64 = 40;
/// The accounts and regions with live operations, and one more at which the search for them ends.
const SCOPES: u64 = 11 + 1;
/// The plans of a caller.
const OF_CALLER: u64 = 200;
/// For a statement that runs once in the life of a process, or of an encryption key.
pub(super) const EVERYTHING: u64 = u64::MAX;

/// The rows, in SQL that both databases take. Operation `i` is live if `i` is odd. Operation `i` works on alias `i` and
/// on target `i`, in group `i / 20`. Group 3000 has the references of 400 service instances. The parent of operation `i` is operation `i / 40`. Another 1,000 operations have
/// ended on target 5002, up to eight at a time.
pub(super) const ROWS: &str = "
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO resource_groups (key, id, location, tags, body, created_at, updated_at, revision, parent_key)
    SELECT 'group-' || (i - 1), '', 'global', '{}', '{}', 1, 1, 1, 'plane-' || (i % 40) FROM numbers;
INSERT INTO resource_groups (key, id, location, tags, body, created_at, updated_at, revision, parent_key)
    VALUES ('group-empty', '', 'global', '{}', '{}', 1, 1, 1, 'plane-0');
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO credentials (key, id, location, tags, body, created_at, updated_at, revision, parent_key, secret)
    SELECT 'credential-' || i, '', 'global', '{}', '{}', 1, 1, 1, 'plane-' || (i % 40), NULL FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO role_assignments (key, id, location, tags, body, created_at, updated_at, revision, parent_key)
    SELECT 'assignment-' || i, '', 'global', '{}', '{}', 1, 1, 1, 'plane-' || (i % 40) FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO type_schemas (key, fingerprint, text, is_provisioned, fetched_at)
    SELECT 'type-' || (i / 2), 'fingerprint-' || i, '{}', 1, i FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 8000)
INSERT INTO resource_references (key, revision, identifier, target_key, owned, operation, provisioning_state, updated_at,
        tags, id, group_key, plane, account, region, created_at)
    SELECT 'reference-' || i, 1, 'name', 'target-' || i, 1, CASE WHEN i % 2 = 1 THEN 'operation-' || i END, 'Succeeded', 1,
        '{}', '', 'group-' || (i / 20), '', '', '', 1
    FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO resource_references (key, revision, owned, provisioning_state, updated_at, tags, id, group_key, plane, account,
        region, created_at)
    SELECT '/planes/radius/local/resourcegroups/group-3000/providers/aws.s3/bucket:reference/instance-' || (i / 10) || ':' || i,
        1, 0, 'Succeeded', 1, '{}', '', 'group-3000', '', '', '', 1
    FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 8000)
INSERT INTO operations (id, kind, status, parent, reference_key, held_target_key, held_group_key, target_key, group_key,
        schema_fingerprint, accepted_at, due_at, ended_at, body, desired, generation, lease_owner, lease_expires_at, scope_key,
        caller, request_key)
    SELECT 'operation-' || i, 'put', CASE WHEN i % 2 = 1 THEN 'Accepted' ELSE 'Succeeded' END, 'operation-' || (i / 40),
        'reference-' || i,
        CASE WHEN i % 2 = 1 THEN 'target-' || i END,
        CASE WHEN i % 2 = 1 THEN 'group-' || (i / 20) END,
        CASE WHEN i % 2 = 0 THEN 'target-' || i END,
        'group-' || (i / 20), 'fingerprint-1', i, i, CASE WHEN i % 2 = 0 THEN i END, '{}', NULL, 1,
        CASE WHEN i % 4 = 1 THEN 'worker' END, CASE WHEN i % 4 = 1 THEN i + 100000 END,
        CASE WHEN i % 400 < 381 THEN 'busy' ELSE 'idle-' || (i % 20) END || '/us-west-2',
        'caller-' || (i % 200), CASE WHEN i % 4 = 3 THEN
            CASE WHEN i % 400 < 381 THEN 'busy' ELSE 'idle-' || (i % 20) END || '/us-west-2/request-' || i END
    FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 1000)
INSERT INTO operations (id, kind, status, target_key, schema_fingerprint, accepted_at, due_at, ended_at, body, generation)
    SELECT 'operation-of-5002-' || i, 'put', 'Succeeded', 'target-5002', 'fingerprint-1', 9000 + i / 8, 9000 + i / 8,
        9000 + i / 8, '{}', 1
    FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 8000)
INSERT INTO events (at, caller, kind, correlation_id, reference_key, changes, outcome)
    SELECT i, '', 'put', '', 'reference-' || (i / 4), '[]', 'Succeeded' FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 8000)
INSERT INTO audit_events (at, caller, action, id, outcome, correlation_id, request_id, suppressed)
    SELECT i / 4, '', '', '', 'Allowed', '', '', 0 FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 8000)
INSERT INTO leftovers (key, register_key, subject_key, target_key, name, plane, account, region, type_name, reason, operation,
        since, tries, next_try_at)
    SELECT 'leftover-' || i, 'group-' || (i / 20), 'left-' || i, 'left-' || i, '', '', '', '', '',
        CASE WHEN i < 4000 THEN 'Undeleted' ELSE 'Salvage' END, '', 1, 0, i
    FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO predictions (operation, key, type_name, exact)
    SELECT 'operation-' || i, 'type-' || (i / 4), 'Type', 1 FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO track_records (key, type_name, applies, exact)
    SELECT 'type-' || i, 'Type', 1, 1 FROM numbers;
INSERT INTO watches (scope_key, owner, expires_at, works_until)
    VALUES ('busy/us-west-2', 'worker', 9, 9), ('idle-1/us-west-2', 'worker', 9, 9);
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO refactors (id, plane, plane_key, created_by, created_at, status, changed_at, over_at, fingerprint, content)
    SELECT 'refactor-' || i, '', 'plane-' || (i % 40), 'caller-' || (i % 40), i,
        CASE WHEN i % 40 = 7 THEN 'Planned' ELSE 'Applied' END, i, i, '', '{}' FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO refactor_groups (refactor, group_key, plane_key, created_at, brought_at)
    SELECT 'refactor-' || i, 'group-' || (i / 20), 'plane-7', i, CASE WHEN i % 2 = 1 THEN i END FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO held_groups (group_key, operation) SELECT 'group-' || i, 'operation-' || (i / 20) FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO broker_instances (key, group_key, revision, gone_at, record)
    SELECT 'instance-' || i, 'group-' || (i / 20), 1, CASE WHEN i % 2 = 1 THEN i END, '{}' FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 8000)
INSERT INTO broker_bindings (key, instance_key, gone_at, record)
    SELECT 'binding-' || i, 'instance-' || (i / 20 + 3000), CASE WHEN i % 2 = 1 THEN i END, '{}' FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO aws_rates (key, used_at, bucket) SELECT 'rate-' || i, i, '{}' FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 400)
INSERT INTO operations (id, kind, status, schema_fingerprint, accepted_at, due_at, body, generation, scope_key,
        waits_for, waits_in, waits_since, next_try_at)
    SELECT 'waiting-' || i, 'put', 'Accepted', 'fingerprint-1', i, 253402300799000, '{}', 1, 'busy/us-west-2',
        'rate-' || (i % 4), 'group-' || (i % 40), i, i
    FROM numbers;
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
INSERT INTO tokens (id, name, digest, role, scopes, created_at, expires_at, ends_at)
    SELECT 'token-' || i, 'name', '', 'owner', '[]', 1, i, i FROM numbers;
";

/// The sealed values are binary, which the databases spell differently.
pub(super) const SEALED: [(&str, &str); 4] = [
    (
        "UPDATE operations SET desired = ",
        " WHERE ended_at IS NULL",
    ),
    ("UPDATE credentials SET secret = ", ""),
    (
        "WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4000)
        INSERT INTO plans (id, plane, created_by, created_at, expires_at, fingerprint, course, over_at, group_key, content)
            SELECT 'plan-' || i, 'local', 'caller-' || (i % 20), i, i, '', '{}', i, 'group-' || (i % 20), ",
        " FROM numbers",
    ),
    ("UPDATE plans SET declared = ", " WHERE expires_at > 2000"),
];

/// The values for each statement, and how many rows it may read with them, of all tables.
pub(super) fn samples() -> BTreeMap<&'static str, (Vec<Value>, u64)> {
    const PAGE: u64 = 5;
    let limit = i64::try_from(PAGE).unwrap();
    let bytes = || b"sealed".to_vec();
    let none = Option::<String>::None;
    let no_time = Option::<i64>::None;
    // Operation 4001 is live and leased; operation 4003 is live; operation 4002 has ended.
    let leased = || values!["operation-4001", "worker", 1];
    let leased = |more: Vec<Value>| [leased(), more].concat();
    let put = |key: &str| values![key, "", "global", "{}", "{}", 1, 2];
    let first = |key: &str| [put(key), values!["plane-1", 1]].concat();
    let reference = |key: &str| {
        values![
            key,
            2,
            "name",
            "target-new",
            true,
            none.clone(),
            "Succeeded",
            none.clone(),
            none.clone(),
            no_time,
            1,
            "{}",
            false,
            false
        ]
    };
    let in_group = values!["", "reference-new", "group-7", "", "", "", 1];
    BTreeMap::from([
        (
            "audit_events::APPEND",
            (
                values![
                    r#"[{"at":1,"caller":"","action":"","id":"","outcome":"","correlation_id":"","request_id":"","suppressed":0}]"#
                ],
                0,
            ),
        ),
        (
            "audit_events::LIST",
            (values![500, 1_500, 4_002, limit], PAGE),
        ),
        // Twice: the rows are found, and then deleted.
        ("audit_events::REMOVE", (values![1_000, limit], 3 * PAGE)),
        ("credentials::INSERT", (first("credential-new"), 0)),
        ("credentials::UPDATE", (put("credential-200"), 1)),
        ("credentials::GET", (values!["credential-200"], 1)),
        ("credentials::LOCK", (values!["credential-200"], 1)),
        ("credentials::DELETE", (values!["credential-200"], 1)),
        (
            "credentials::SET_SECRET",
            (values!["credential-200", bytes()], 1),
        ),
        (
            "credentials::LIST",
            (values!["plane-7", "", limit], IN_PLANE),
        ),
        (
            "events::APPEND_ALL",
            (
                values![
                    r#"[{"at":1,"caller":"","kind":"move","correlation_id":"","reference_key":"reference-9","outcome":""}]"#
                ],
                0,
            ),
        ),
        (
            "events::APPEND",
            (
                values![
                    1,
                    "",
                    "put",
                    none.clone(),
                    "",
                    none.clone(),
                    "reference-9",
                    none.clone(),
                    none.clone(),
                    "[]",
                    "Succeeded",
                    none.clone(),
                    none.clone()
                ],
                0,
            ),
        ),
        ("events::LIST", (values!["reference-1000"], 4)),
        ("events::REMOVE", (values![4_000, limit], 3 * PAGE)),
        (
            "groups::COUNT",
            (values!["group-2", "group-3", limit], PAGE),
        ),
        ("groups::INSERT", (first("group-new"), 0)),
        ("groups::UPDATE", (put("group-200"), 1)),
        ("groups::GET", (values!["group-200"], 1)),
        ("groups::LOCK", (values!["group-200"], 1)),
        (
            "groups::POLICIES_ELSEWHERE",
            (values!["target-4000", "group-7"], 2),
        ),
        ("groups::DELETE", (values!["group-empty"], 1)),
        ("groups::LIST", (values!["group-2", "group-3", limit], PAGE)),
        ("groups::SHARE", (values!["group-200"], 1)),
        (
            "groups::SET_DELETION",
            (values!["group-200", "operation-1"], 1),
        ),
        ("store::PING", (values![], 9)),
        ("store::TIME", (values![], 0)),
        // Twice: the rows are found, and then written.
        (
            "leases::CLAIM",
            (values![1_000_000, limit, "worker", 1_000_001], 4 * PAGE),
        ),
        ("leases::RENEW", (leased(values![9]), 1)),
        ("leases::RELEASE", (leased(values![]), 1)),
        ("leases::HAND_BACK", (leased(values![9, 1]), 1)),
        ("leases::COUNT", (leased(values![9, 1]), 1)),
        // When SQLite is opened.
        ("leases::RELEASE_ALL", (values![], EVERYTHING)),
        ("leases::NEXT", (values![], 1)),
        // Two statements of a row that conflicts: it is found, and written.
        (
            "leftover_row::ENTER",
            (
                [
                    values!["leftover-new", "group-200", "left-4002", "left-4002"],
                    values!["", none.clone(), "", "", "", "", "left-4002", "Undeleted"],
                    values![
                        none.clone(),
                        "",
                        1,
                        none.clone(),
                        1,
                        none.clone(),
                        "left-4002",
                        none.clone()
                    ],
                ]
                .concat(),
                1,
            ),
        ),
        ("leftover_row::GET", (values!["leftover-4002"], 1)),
        (
            "leftover_row::LIST",
            (values!["leftover-2", "leftover-3", limit], PAGE),
        ),
        // None of them is ours.
        ("leftover_row::COUNT", (values![limit], PAGE)),
        ("leftover_row::OURS", (values!["group-300"], IN_GROUP)),
        ("leftover_row::OF_GROUP", (values!["group-300"], 1)),
        ("leftover_row::DELETE", (values!["leftover-4002"], 1)),
        ("leftover_row::SETTLE", (values!["left-4002"], 1)),
        (
            "leftover_row::DECIDE",
            (values!["group-200", "left-4002"], 1),
        ),
        (
            "leftover_row::DELETE_REGISTER",
            (values!["group-300"], IN_GROUP),
        ),
        ("leftover_row::LOCK_ALL", (values!["left-4002"], 1)),
        (
            "leftover_row::ABANDON",
            (values!["group-200", "left-4002"], 1),
        ),
        (
            "leftover_row::UNDECIDED",
            (values!["group-200", "left-4002"], 1),
        ),
        (
            "leftover_row::LOCK_UNDECIDED",
            (values!["group-200", "left-4002"], 1),
        ),
        (
            "leftover_row::NOTE_TRY",
            (values!["leftover-4002", 1, none.clone(), 1], 1),
        ),
        // Twice: the rows are found, and then written.
        (
            "leftover_row::CLAIM",
            (values![4_000, limit, 9_000], 4 * PAGE),
        ),
        (
            "leases::CLAIM_ELSEWHERE",
            (
                values![
                    1_000_000,
                    limit,
                    "worker",
                    1_000_001,
                    r#"["busy/us-west-2"]"#
                ],
                // Those of the shares are found, and then written.
                3 * SCOPES + 4 * PAGE,
            ),
        ),
        (
            "leases::NEXT_ELSEWHERE",
            (values![r#"["busy/us-west-2"]"#], 2 * SCOPES),
        ),
        (
            "reference_row::INSERT",
            (
                [
                    values![
                        "reference-new",
                        1,
                        none.clone(),
                        none.clone(),
                        false,
                        "operation-1",
                        "Provisioning",
                        none.clone(),
                        none.clone(),
                        no_time,
                        1,
                        "{}",
                        false,
                        false
                    ],
                    in_group,
                ]
                .concat(),
                0,
            ),
        ),
        ("reference_row::UPDATE", (reference("reference-4002"), 1)),
        ("reference_row::GET", (values!["reference-4002"], 1)),
        ("reference_row::LOCK", (values!["reference-4002"], 1)),
        (
            "reference_row::HAS_LINEAGE",
            (values!["reference-4002", "reference-new"], 1),
        ),
        (
            "reference_row::LIST",
            (values!["reference-2", "reference-3", limit, i64::MAX], PAGE),
        ),
        ("reference_row::OF_GROUP", (values!["group-200"], IN_GROUP)),
        ("reference_row::COUNT", (values!["group-200"], IN_GROUP)),
        (
            "reference_row::OWNED_PLACES",
            (values!["group-200", limit], IN_GROUP),
        ),
        ("reference_row::DELETE", (values!["reference-4002"], 1)),
        (
            "reference_row::OTHER_OWNER",
            (values!["target-4002", "reference-1"], 1),
        ),
        (
            "reference_row::OTHERS",
            (values!["target-4002", "group-7", "reference-1"], 2),
        ),
        (
            "reference_row::SHARED",
            (values!["group-200", limit], 2 * IN_GROUP),
        ),
        (
            "reference_row::LIST_TO",
            (
                values![r#"["target-4001", "target-4002", "target-none"]"#, limit],
                2,
            ),
        ),
        (
            "reference_row::OWN",
            (
                values!["reference-4002", 2, 1, "reference-4002", "target-4002"],
                1,
            ),
        ),
        ("reference_row::LOCK_ALL", (values!["target-4002"], 1)),
        ("reference_row::DELETE_IDLE", (values!["target-4002"], 1)),
        (
            "reference_row::REMEMBER",
            (
                values![
                    "reference-5002",
                    2,
                    1,
                    "name",
                    "Succeeded",
                    none.clone(),
                    none.clone(),
                    no_time,
                    1,
                    "operation-of-5002-1000",
                    true,
                    "reference-5002"
                ],
                2,
            ),
        ),
        (
            "refactor_row::INSERT",
            (
                values![
                    "refactor-new",
                    "",
                    "",
                    1,
                    "Planned",
                    1,
                    "",
                    "{}",
                    "[]",
                    "plane-7",
                    1
                ],
                0,
            ),
        ),
        (
            "refactor_row::INSERT_GROUPS",
            (
                values![
                    "refactor-1",
                    1,
                    no_time,
                    r#"["group-300", "group-301"]"#,
                    "plane-7"
                ],
                0,
            ),
        ),
        (
            "refactor_row::WRITE",
            (values!["refactor-2000", "Undone", 1, "{}", "[]", 1], 1),
        ),
        (
            "refactor_row::WRITE_GROUPS",
            (values!["refactor-2000", no_time], 1),
        ),
        ("refactor_row::FORGET", (values!["group-100"], IN_GROUP)),
        ("refactor_row::GET", (values!["refactor-2000"], 1)),
        ("refactor_row::LOCK", (values!["refactor-2000"], 1)),
        (
            "moves::LOCK",
            (values![r#"["reference-4002", "reference-none"]"#], 1),
        ),
        (
            "moves::BUSY_TARGETS",
            (values![r#"["target-4001", "target-4002"]"#], 1),
        ),
        // The live operations on their references.
        (
            "moves::BUSY_GROUPS",
            (values![r#"["group-200", "group-201"]"#, ""], 2 * IN_GROUP),
        ),
        ("moves::SET_ASIDE", (values![r#"["reference-4002"]"#], 1)),
        // What was set aside is looked for by its key.
        (
            "moves::BRING",
            (
                values![
                    r#"[{"from":"reference-4002","key":"reference-new","id":"new","group":"group-7","revision":2,"at":1}]"#
                ],
                0,
            ),
        ),
        (
            "refactor_row::LIST",
            (values!["plane-7", 2_000, "refactor-", limit], IN_PLANE),
        ),
        // The groups, and their records.
        (
            "refactor_row::LIST_OF_GROUP",
            (
                values!["plane-7", "group-100", 2_015, "refactor-", limit],
                2 * PAGE,
            ),
        ),
        // All of the history of the groups, and a page of records with the groups of each.
        (
            "refactor_row::EVENTS",
            (
                values![r#"["group-100", "group-none"]"#, limit],
                IN_GROUP / 2 + 3 * PAGE,
            ),
        ),
        // Twice: the rows are found, and then deleted.
        ("refactor_row::REMOVE", (values![1_000, limit], 3 * PAGE)),
        // All that there are of the caller are counted.
        (
            "refactor_row::REMOVE_PLANNED",
            (values!["caller-7", 98], 105),
        ),
        // A group, a reference, and the operation on it that is live or that ended last.
        ("references::COUNT", (values!["group-200", limit], PAGE)),
        (
            "references::ACCOUNTED_FOR",
            (values![r#"["target-4001", "left-4002", "target-none"]"#], 2),
        ),
        (
            "references::RECORDED",
            (
                values![
                    r#"[["group-200", "reference-5002"], ["group-200", "reference-4001"], ["group-1", "none"]]"#
                ],
                9,
            ),
        ),
        (
            "reference_row::OF_INSTANCE",
            (
                values!["group-3000/instance-7:", "group-3000/instance-7;"],
                OF_INSTANCE,
            ),
        ),
        (
            "reference_row::TAG",
            (values!["reference-4002", "{}", 2, 1], 1),
        ),
        (
            "service_row::INSERT",
            (values!["instance-new", "group-7", 1, no_time, "{}"], 0),
        ),
        (
            "service_row::UPDATE",
            (values!["instance-2000", "group-7", 2, no_time, "{}"], 1),
        ),
        ("service_row::GET", (values!["instance-2000"], 1)),
        ("service_row::LOCK", (values!["instance-2000"], 1)),
        ("service_row::STANDING", (values!["group-100"], 1)),
        (
            "service_row::PUT_BINDING",
            (values!["binding-4000", "instance-3200", no_time, "{}"], 1),
        ),
        ("service_row::GET_BINDING", (values!["binding-4000"], 1)),
        (
            "service_row::BINDINGS",
            (values!["instance-3200"], IN_GROUP),
        ),
        (
            "service_row::BINDING_KEYS",
            (values!["instance-3200"], IN_GROUP),
        ),
        // Twice: the rows are found, and then deleted.
        (
            "service_row::REMOVE_BINDINGS",
            (values![4_000, limit], 3 * PAGE),
        ),
        (
            "service_row::REMOVE_INSTANCES",
            (values![4_000, limit], 3 * PAGE),
        ),
        (
            "sealed::SERVICE_INSTANCES",
            (values!["instance-2000", limit], PAGE),
        ),
        (
            "sealed::SERVICE_BINDINGS",
            (values!["binding-2000", limit], PAGE),
        ),
        (
            "sealed::RESEAL_SERVICE_INSTANCE",
            (values!["instance-2000", "{}", "{}"], 1),
        ),
        (
            "sealed::RESEAL_SERVICE_BINDING",
            (values!["binding-2000", "{}", "{}"], 1),
        ),
        ("busy::BUSY_TARGET", (values!["target-4001"], 1)),
        ("busy::LOCK_TARGET", (values!["target-4001"], 1)),
        // An operation that has ended, and a reference.
        ("busy::TARGET", (values!["target-5002"], 2)),
        ("busy::BUSY_GROUP", (values!["group-200", ""], 1)),
        // The groups that it holds.
        (
            "held_groups::HOLD",
            (
                values![r#"["group-new", "group-other"]"#, "operation-4001"],
                2,
            ),
        ),
        ("held_groups::RELEASE", (values!["operation-100"], IN_GROUP)),
        (
            "held_groups::HOLDER",
            (values![r#"["group-2000", "group-2001"]"#, ""], 2),
        ),
        ("busy::BUSY_APPLY", (values!["group-200"], 1)),
        (
            "operation_row::INSERT",
            (
                values![
                    "operation-new",
                    "put",
                    "Accepted",
                    none.clone(),
                    "reference-new",
                    "target-5002",
                    "group-200",
                    "",
                    1,
                    bytes(),
                    "{}",
                    bytes(),
                    "operation-of-5002-1000",
                    1,
                    1,
                    "1/us-west-2",
                    "caller-7"
                ],
                2,
            ),
        ),
        ("operation_row::GET", (values!["operation-4001"], 1)),
        ("operations::CHILDREN", (values!["operation-100"], CHILDREN)),
        (
            "operations::SEVERAL",
            (values![r#"["operation-4001", "operation-4002"]"#], 2),
        ),
        ("operations::HOLD", (leased(values![]), 1)),
        (
            "operations::STEP",
            (
                leased(values![
                    "Updating",
                    "target-4001",
                    bytes(),
                    9,
                    9,
                    0,
                    "{}",
                    0,
                    9,
                    "busy/us-west-2/request-new",
                    9000
                ]),
                1,
            ),
        ),
        ("operations::END_CHILD", (values!["operation-4001", 9], 1)),
        (
            "operations::FINISH",
            // Its documents are erased.
            (leased(values!["Succeeded", "target-4001", 9, "{}"]), 1),
        ),
        (
            "operations::REQUEST_CANCEL",
            (values!["operation-4003", 9], 1),
        ),
        (
            "operations::REQUEST_CHILDREN_CANCEL",
            (values!["operation-100", 9], CHILDREN),
        ),
        ("operations::CREATED", (values!["target-4002", 1], 1)),
        (
            "operations::COUNT_LIVE",
            (values!["group-200", limit], PAGE),
        ),
        ("operations::COUNT_ALL_LIVE", (values![limit], PAGE)),
        (
            "operations::COUNT_REQUESTED",
            (values!["caller-7", limit], PAGE),
        ),
        (
            "operations::PAGE",
            (values!["group-200", 4_010, "z", limit], PAGE),
        ),
        (
            "operations::PAGE_BY_STATUS",
            (values!["group-200", 4_010, "z", limit, "Failed"], IN_GROUP),
        ),
        // Each with its parent, and again to delete it; and those whose parent is live.
        (
            "operations::REMOVE_ENDED",
            (values![8_000, limit], 3 * PAGE + 3 * CHILDREN),
        ),
        ("planes::INSERT", (first("plane-new"), 0)),
        ("planes::UPDATE", (put("plane-none"), 9)),
        ("planes::GET", (values!["plane-none"], 9)),
        ("planes::LOCK", (values!["plane-none"], 9)),
        ("planes::DELETE", (values!["plane-none"], 9)),
        ("planes::LIST", (values!["", "z", limit], PAGE)),
        ("role_assignments::INSERT", (first("assignment-new"), 0)),
        ("role_assignments::UPDATE", (put("assignment-200"), 1)),
        ("role_assignments::GET", (values!["assignment-200"], 1)),
        ("role_assignments::LOCK", (values!["assignment-200"], 1)),
        ("role_assignments::DELETE", (values!["assignment-200"], 1)),
        (
            "role_assignments::LIST",
            (values!["assignment-2", "assignment-3", limit], PAGE),
        ),
        (
            "role_assignments::HOLD_GROUPS",
            (values![r#"["group-200", "group-none"]"#], 1),
        ),
        ("sealed::CREDENTIALS", (values!["", limit], PAGE)),
        ("sealed::BASELINES", (values!["", limit], EVERYTHING)),
        ("sealed::BODIES", (values!["", limit], PAGE)),
        ("sealed::OBSERVED", (values!["", limit], EVERYTHING)),
        // The live operations.
        ("sealed::DESIRED", (values!["", limit], EVERYTHING)),
        ("sealed::DIGEST_KEYS", (values!["", limit], 9)),
        ("sealed::DOCUMENTS", (values!["", limit], EVERYTHING)),
        ("sealed::LOOKS", (values!["", limit], EVERYTHING)),
        ("sealed::INSERT_KEY", (values!["key", bytes(), 1], 0)),
        ("sealed::OFFER_KEY", (values!["key", bytes(), 1], 0)),
        ("sealed::CURRENT_KEY", (values![], 9)),
        ("sealed::DELETE_KEYS", (values![], 9)),
        (
            "sealed::RESEAL_BASELINE",
            (values!["reference-4002", "old", "new"], 1),
        ),
        (
            "sealed::RESEAL_BODY",
            (values!["operation-4001", "old", "new"], 1),
        ),
        (
            "sealed::RESEAL_OBSERVED",
            (values!["reference-4002", "old", "new"], 1),
        ),
        (
            "sealed::RESEAL_CREDENTIAL",
            (values!["credential-200", bytes(), bytes()], 1),
        ),
        (
            "sealed::RESEAL_DESIRED",
            (values!["operation-4001", bytes(), bytes()], 1),
        ),
        (
            "sealed::RESEAL_DIGEST_KEY",
            (values!["key", bytes(), bytes()], 9),
        ),
        (
            "sealed::RESEAL_DOCUMENT",
            (values!["operation-4001", bytes(), bytes()], 1),
        ),
        (
            "sealed::RESEAL_LOOK",
            (values!["operation-4001", bytes(), bytes()], 1),
        ),
        ("sealed::PLAN_CONTENTS", (values!["", limit], PAGE)),
        (
            "sealed::PLAN_DECLARATIONS",
            (values!["", limit], EVERYTHING),
        ),
        (
            "sealed::RESEAL_PLAN_CONTENT",
            (values!["plan-4000", bytes(), bytes()], 1),
        ),
        (
            "sealed::RESEAL_PLAN_DECLARATION",
            (values!["plan-4000", bytes(), bytes()], 1),
        ),
        (
            "kept_plans::INSERT",
            (
                values![
                    "plan-new",
                    "local",
                    none.clone(),
                    "caller",
                    1,
                    2,
                    "",
                    "{}",
                    2,
                    0,
                    bytes(),
                    bytes(),
                    1,
                    none.clone()
                ],
                0,
            ),
        ),
        (
            "kept_plans::INSERT_SEVERAL",
            (
                values![
                    r#"[{"id": "plan-of-several", "plane": "local", "created_by": "caller", "created_at": 1, "expires_at": 2,
                        "fingerprint": "", "course": "{}", "over_at": 2, "relied_on": 0, "content": "00", "units": 1}]"#
                ],
                0,
            ),
        ),
        ("kept_plans::GET", (values!["plan-200"], 1)),
        ("kept_plans::LOCK", (values!["plan-200"], 1)),
        ("kept_plans::WRITE", (values!["plan-200", "{}", 9, 1, 1], 1)),
        ("kept_plans::COUNT", (values!["caller-7", limit], PAGE)),
        (
            "kept_plans::COUNT_OF_GROUP",
            (values!["caller-7", limit, "group-7"], PAGE),
        ),
        // All of a caller, and some of them twice more.
        (
            "kept_plans::REMOVE_OF",
            (values!["caller-7", 1_000, 150], 3 * OF_CALLER),
        ),
        (
            "kept_plans::REMOVE_OF_GROUP",
            (values!["caller-7", 1_000, 150, "group-7"], 3 * OF_CALLER),
        ),
        // Twice: the rows are found, and then written.
        (
            "kept_plans::ERASE_EXPIRED",
            (values![4_000, limit], 3 * PAGE),
        ),
        ("kept_plans::REMOVE", (values![4_000, limit], 3 * PAGE)),
        (
            "tokens::INSERT",
            (
                values!["token-new", "name", "", "owner", "[]", 1, no_time, 9],
                0,
            ),
        ),
        ("tokens::COUNT_VALID", (values![2_000, limit], PAGE)),
        // Twice: the rows are found, and then removed.
        ("tokens::REMOVE_ENDED", (values![4_000, limit], 3 * PAGE)),
        ("tokens::GET", (values!["token-200"], 1)),
        ("tokens::LIST", (values!["token-2", limit], PAGE)),
        ("tokens::REVOKE", (values!["token-200", 9], 1)),
        ("tokens::NOTE_USE", (values!["token-200", 9], 1)),
        ("rates::BUCKET", (values!["rate-1", 9_000, "{}"], 2)),
        ("rates::GET", (values!["rate-1"], 1)),
        ("rates::SETTLE", (values!["rate-1", "{}"], 1)),
        ("rates::COUNT", (values!["rate-1", 100], 100)),
        ("rates::COUNT_BY_GROUP", (values!["rate-1", 100], 100)),
        (
            "rates::GROUPS_OF",
            (values![r#"["operation-4001","operation-4002"]"#], 2),
        ),
        // Each group is found from the one before it.
        (
            "rates::GROUPS",
            (values!["rate-1", "group-2", limit], 2 * PAGE),
        ),
        (
            "rates::LONGEST",
            (
                values!["rate-1", r#"["group-1","group-5"]"#, limit],
                6 * PAGE,
            ),
        ),
        (
            "rates::RELEASE",
            (values![r#"{"waiting-1":1,"waiting-5":2}"#], 6),
        ),
        (
            "rates::WAIT",
            (
                values![r#"[["operation-4001","worker",1,9000]]"#, "rate-1", 9_000],
                3,
            ),
        ),
        ("rates::WAITED_FOR", (values![], 2 * PAGE)),
        // Twice: the rows are found, and then deleted.
        ("rates::REMOVE_IDLE", (values![4_000, limit], 3 * PAGE)),
        (
            "track_records::NOTE",
            (values!["operation-new", "type-1", "Type", 1], 0),
        ),
        // One prediction of each type, and the track records.
        (
            "track_records::LIST",
            (values!["type-2", "type-3", limit], 2 * PAGE),
        ),
        (
            "track_records::SEVERAL",
            (values![r#"["type-100", "type-none"]"#], 1 + 4),
        ),
        // Twice: the rows are found, and then removed.
        ("track_records::TAKE", (values![limit], 3 * PAGE)),
        ("track_records::ADD", (values!["type-100", "Type", 1, 1], 1)),
        (
            "type_schemas::PUT",
            (values!["type-100", "new", "{}", true, 9_000], 0),
        ),
        // Only a schema that has changed is compared with those of the live operations.
        ("type_schemas::DELETE_UNUSED", (values!["type-100", 1], 2)),
        (
            "type_schemas::GET",
            (values!["type-100", "fingerprint-200"], 1),
        ),
        ("type_schemas::CURRENT", (values!["type-100"], 2)),
        // The first operations of each scope, and three times its watch.
        (
            "watches::SCOPES",
            (values![limit], (1 + (PAGE + 1) + 3 * 2) * SCOPES),
        ),
        (
            "watches::KEEP",
            (values!["busy/us-west-2", "other", 20, 0, 10], 1),
        ),
        ("watches::END", (values!["busy/us-west-2", "worker"], 2)),
        (
            "watches::OPERATIONS",
            (values!["busy/us-west-2/", limit], PAGE),
        ),
        // Twice: the rows are found, and then written.
        (
            "watches::RESCHEDULE",
            (values![r#"["operation-4003", "none"]"#, 1, 9_000], 2),
        ),
    ])
}
