-- The requests of an AWS account and region that are in flight are watched together, by one process at a time.
--
-- * `request_key` is the account and the region, a slash, and the token of the request that an operation waits for. A server of
--   an earlier version leaves it as it is, which only means that its operations are asked after one by one, or once too often.
-- * A watch is kept by its owner until it expires. Its lists may be relied on for as long as `works_until` says.

ALTER TABLE operations ADD COLUMN request_key TEXT COLLATE "C";

CREATE INDEX operations_request ON operations (request_key)
WHERE request_key IS NOT NULL;

CREATE TABLE watches (
    scope_key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    works_until BIGINT NOT NULL
);
