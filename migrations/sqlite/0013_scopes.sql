-- Workers share their slots between AWS accounts and regions. So a live operation is also found by its own:
--
-- * `scope_key` is the account and the region, empty for an operation on a group.

ALTER TABLE operations ADD COLUMN scope_key TEXT NOT NULL DEFAULT '';
UPDATE operations SET scope_key = COALESCE(
        lower(body ->> '$.work.resource.scope.account') || '/' || (body ->> '$.work.resource.scope.region'),
        ''
    )
    WHERE ended_at IS NULL;

CREATE INDEX operations_scope ON operations (
    scope_key, (CASE WHEN lease_expires_at > due_at THEN lease_expires_at ELSE due_at END), id
) WHERE ended_at IS NULL;
