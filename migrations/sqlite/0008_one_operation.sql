-- An operation is a row of columns that statements ask for, and JSON in `body` that holds the rest: `version`, who asked
-- (`correlationId`, `caller`), and `work`. `status` is ARM's word. `target_key` is the AWS resource that no other live
-- operation may work on, null when it is not known or when another live operation was first; of an ended operation it is the
-- resource that it worked on.
--
-- Contract: servers of earlier versions cannot work on this table any more, so stop them first.

CREATE TABLE new_operations (
    id                  TEXT NOT NULL PRIMARY KEY,
    kind                TEXT NOT NULL,
    status              TEXT NOT NULL,
    parent              TEXT,
    reference_key       TEXT,
    target_key          TEXT,
    group_key           TEXT,
    schema_fingerprint  TEXT NOT NULL,
    accepted_at         INTEGER NOT NULL,
    due_at              INTEGER NOT NULL,
    cancel_requested_at INTEGER,
    ended_at            INTEGER,
    body                TEXT NOT NULL,
    -- Sealed; erased when the operation ends.
    desired             BLOB,
    document            BLOB,
    -- The right to write: the owner, while the generation is the one it claimed.
    generation          INTEGER NOT NULL,
    lease_owner         TEXT,
    lease_expires_at    INTEGER,
    CHECK ((ended_at IS NOT NULL) = (status IN ('Succeeded', 'Failed', 'Canceled'))),
    CHECK (ended_at IS NULL OR (desired IS NULL AND document IS NULL AND lease_owner IS NULL)),
    CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL))
) STRICT;

WITH old AS (
    SELECT *,
        -- Before changes could be cancelled, only creates were salvaged.
        CASE WHEN state IN ('salvaging', 'adopting') THEN COALESCE(action, 'create') ELSE action END AS doing,
        CASE WHEN (replacing ->> 'step') = 'oldLast' THEN (replacing ->> 'old') ELSE identifier END AS subject
    FROM operations
),
intended AS (
    SELECT *,
        CASE WHEN client_token IS NOT NULL THEN json_object(
            'call', json(CASE doing
                WHEN 'create' THEN json_quote('create')
                WHEN 'update' THEN json_object('update', subject)
                ELSE json_object('delete', subject)
            END),
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
            WHEN 'accepted' THEN json_quote('accepted')
            WHEN 'submitting' THEN json_object('submitting', json(intent))
            WHEN 'waiting' THEN json_object('waiting', json_array(json(intent), request_token))
            WHEN 'observing' THEN json_object('observing', doing)
            WHEN 'salvaging' THEN json_object('salvaging', json_array(doing, json(failure)))
            WHEN 'adopting' THEN json_object('adopting', json(failure))
            WHEN 'succeeded' THEN json_object('ended', 'succeeded')
            ELSE json_object('ended', json_object(state, json(failure)))
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
        json_object(
            'version', 1,
            'correlationId', correlation_id,
            'caller', caller,
            'work', json(CASE WHEN group_name IS NULL
                THEN json_object('resource', json_object(
                    'kind', kind,
                    'scope', json_object('plane', plane, 'account', account, 'region', region),
                    'typeName', type_name,
                    'reference', reference,
                    'identifier', identifier,
                    'wasMapped', json(iif(was_mapped, 'true', 'false')),
                    'wasOwned', json(iif(was_owned, 'true', 'false')),
                    'created', json(iif(created, 'true', 'false')),
                    'replacing', json(replacing),
                    'options', json(options),
                    'state', json(how_far),
                    'stateSince', state_since,
                    'attempt', attempt,
                    'changes', json(changes),
                    'result', json(result),
                    'schemaFingerprint', schema_fingerprint
                ))
                ELSE json_object('group', json_object(
                    'group', json_object('plane', plane, 'name', group_name),
                    'task', json(CASE kind
                        WHEN 'deleteGroup' THEN json_quote('delete')
                        ELSE json_object('import', json(options))
                    END),
                    'progress', json(CASE state WHEN 'accepted' THEN json_quote('running') ELSE how_far END),
                    'total', items_total,
                    'done', items_done,
                    'outcomes', json(result)
                ))
            END)
        ),
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
