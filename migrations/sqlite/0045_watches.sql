-- The requests of an AWS account and region that are in flight are watched together, by one process at a time.
--
-- * `request_key` is the account and the region, a slash, and the token of the request that an operation waits for.
-- * A watch is kept by its owner until it expires. Its lists may be relied on for as long as `works_until` says.

ALTER TABLE operations ADD COLUMN request_key TEXT;

CREATE INDEX operations_request ON operations (request_key)
WHERE request_key IS NOT NULL;

CREATE TABLE watches (
    scope_key TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    works_until INTEGER NOT NULL
);
