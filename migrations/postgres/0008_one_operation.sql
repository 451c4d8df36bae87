-- An operation is a row of columns that statements ask for, and JSON in `body` that holds the rest: `version`, who asked
-- (`correlationId`, `caller`), and `work`. `status` is ARM's word. `target_key` is the AWS resource that no other live
-- operation may work on, null when it is not known or when another live operation was first; of an ended operation it is the
-- resource that it worked on.
--
-- Contract: servers of earlier versions cannot work on this table any more, so stop them first.
-- squawk-ignore-file ban-drop-table, renaming-table

-- What a server of an earlier version writes now waits, and then fails. Without this it could be lost.
LOCK TABLE operations IN ACCESS EXCLUSIVE MODE;

CREATE TABLE new_operations (
    id                  TEXT COLLATE "C" NOT NULL CONSTRAINT operations_id PRIMARY KEY,
    kind                TEXT COLLATE "C" NOT NULL,
    status              TEXT COLLATE "C" NOT NULL,
    parent              TEXT COLLATE "C",
    reference_key       TEXT COLLATE "C",
    target_key          TEXT COLLATE "C",
    group_key           TEXT COLLATE "C",
    schema_fingerprint  TEXT COLLATE "C" NOT NULL,
    accepted_at         BIGINT NOT NULL,
    due_at              BIGINT NOT NULL,
    cancel_requested_at BIGINT,
    ended_at            BIGINT,
    body                TEXT COLLATE "C" NOT NULL,
    -- Sealed; erased when the operation ends.
    desired             BYTEA,
    document            BYTEA,
    -- The right to write: the owner, while the generation is the one it claimed.
    generation          BIGINT NOT NULL,
    lease_owner         TEXT COLLATE "C",
    lease_expires_at    BIGINT,
    CHECK ((ended_at IS NOT NULL) = (status IN ('Succeeded', 'Failed', 'Canceled'))),
    CHECK (ended_at IS NULL OR (desired IS NULL AND document IS NULL AND lease_owner IS NULL)),
    CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL))
);

WITH old AS (
    SELECT *,
        -- Before changes could be cancelled, only creates were salvaged.
        CASE WHEN state IN ('salvaging', 'adopting') THEN COALESCE(action, 'create') ELSE action END AS doing,
        -- Only this step is taken apart: others hold messages, and `->>` refuses NUL.
        CASE WHEN replacing LIKE '{"step":"oldLast"%' THEN replacing::json ->> 'old' ELSE identifier END AS subject
    FROM operations
),
intended AS (
    SELECT *,
        CASE WHEN client_token IS NOT NULL THEN json_build_object(
            'call', CASE doing
                WHEN 'create' THEN to_json('create'::text)
                WHEN 'update' THEN json_build_object('update', subject)
                ELSE json_build_object('delete', subject)
            END,
            'clientToken', client_token,
            'issuedAt', token_issued_at,
            'base', base_digest,
            'unanswered', unanswered_sends
        ) END AS intent
    FROM old
),
stated AS (
    SELECT *,
        CASE state
            WHEN 'accepted' THEN to_json('accepted'::text)
            WHEN 'submitting' THEN json_build_object('submitting', intent)
            WHEN 'waiting' THEN json_build_object('waiting', json_build_array(intent, request_token))
            WHEN 'observing' THEN json_build_object('observing', doing)
            WHEN 'salvaging' THEN json_build_object('salvaging', json_build_array(doing, failure::json))
            WHEN 'adopting' THEN json_build_object('adopting', failure::json)
            WHEN 'succeeded' THEN json_build_object('ended', 'succeeded')
            ELSE json_build_object('ended', json_build_object(state, failure::json))
        END AS how_far
    FROM intended
)
INSERT INTO new_operations (id, kind, status, parent, reference_key, target_key, group_key, schema_fingerprint, accepted_at,
        due_at, cancel_requested_at, ended_at, body, desired, document, generation, lease_owner, lease_expires_at)
    SELECT id, kind,
        CASE
            WHEN state = 'succeeded' THEN 'Succeeded'
            WHEN state = 'failed' THEN 'Failed'
            WHEN state = 'canceled' THEN 'Canceled'
            WHEN kind = 'deleteGroup' THEN 'Deleting'
            WHEN kind = 'importGroup' THEN 'Provisioning'
            WHEN doing IS NULL THEN 'Accepted'
            WHEN replacing IS NOT NULL OR doing = 'update' THEN 'Updating'
            WHEN doing = 'create' THEN 'Provisioning'
            ELSE 'Deleting'
        END,
        parent, reference_key,
        CASE
            WHEN ended_at IS NULL THEN target_key
            WHEN group_name IS NULL AND identifier IS NOT NULL
                THEN lower(account) || '/' || region || '/' || type_name || '/' || identifier
        END,
        group_key, schema_fingerprint, accepted_at, due_at, cancel_requested_at, ended_at,
        json_build_object(
            'version', 1,
            'correlationId', correlation_id,
            'caller', caller,
            'work', CASE WHEN group_name IS NULL
                THEN json_build_object('resource', json_build_object(
                    'kind', kind,
                    'scope', json_build_object('plane', plane, 'account', account, 'region', region),
                    'typeName', type_name,
                    'reference', reference,
                    'identifier', identifier,
                    'wasMapped', was_mapped = 1,
                    'wasOwned', was_owned = 1,
                    'created', created = 1,
                    'replacing', replacing::json,
                    'options', options::json,
                    'state', how_far,
                    'stateSince', state_since,
                    'attempt', attempt,
                    'changes', changes::json,
                    'result', result::json,
                    'schemaFingerprint', schema_fingerprint
                ))
                ELSE json_build_object('group', json_build_object(
                    'group', json_build_object('plane', plane, 'name', group_name),
                    'task', CASE kind
                        WHEN 'deleteGroup' THEN to_json('delete'::text)
                        ELSE json_build_object('import', options::json)
                    END,
                    'progress', CASE state WHEN 'accepted' THEN to_json('running'::text) ELSE how_far END,
                    'total', items_total,
                    'done', items_done,
                    'outcomes', result::json
                ))
            END
        )::text,
        desired, document, generation, lease_owner, lease_expires_at
    FROM stated;

DROP TABLE operations;
ALTER TABLE new_operations RENAME TO operations;

CREATE UNIQUE INDEX operations_one_per_reference ON operations (reference_key) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX operations_one_per_target ON operations (target_key) WHERE ended_at IS NULL;
CREATE INDEX operations_due ON operations (due_at, id) WHERE ended_at IS NULL;
CREATE INDEX operations_group ON operations (group_key, accepted_at, id);
CREATE INDEX operations_parent ON operations (parent) WHERE parent IS NOT NULL;
CREATE INDEX operations_ended ON operations (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX operations_ended_target ON operations (target_key, ended_at) WHERE ended_at IS NOT NULL;

-- The table is new, so nothing is known of it yet.
ANALYZE operations;
