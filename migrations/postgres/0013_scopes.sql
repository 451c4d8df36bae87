-- Workers share their slots between AWS accounts and regions. So a live operation is also found by its own:
--
-- * `scope_key` is the account and the region, empty for an operation on a group. A server of an earlier version leaves it
--   empty, which only means that its operations share one part of the slots.

ALTER TABLE operations ADD COLUMN scope_key TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE operations SET scope_key = COALESCE(
        lower(body::json #>> '{work,resource,scope,account}') || '/' || (body::json #>> '{work,resource,scope,region}'),
        ''
    )
    WHERE ended_at IS NULL;

CREATE INDEX operations_scope ON operations (
    scope_key, (CASE WHEN lease_expires_at > due_at THEN lease_expires_at ELSE due_at END), id
) WHERE ended_at IS NULL;
