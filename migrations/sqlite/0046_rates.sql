-- How fast AWS is called, by account, region and class of calls. `bucket` is JSON: the state of a token bucket.
CREATE TABLE aws_rates (
    key     TEXT NOT NULL PRIMARY KEY,
    used_at INTEGER NOT NULL,
    bucket  TEXT NOT NULL
) STRICT;

CREATE INDEX aws_rates_used ON aws_rates (used_at, key);

-- An operation that waits for its turn: for which bucket, since when, and when that is expected to be. `waits_in` is the key of its
-- group. It is due an hour after it began to wait, whatever becomes of those who release it. What has had its turn has a permit.
ALTER TABLE operations ADD COLUMN waits_for TEXT;
ALTER TABLE operations ADD COLUMN waits_in TEXT;
ALTER TABLE operations ADD COLUMN waits_since INTEGER;
ALTER TABLE operations ADD COLUMN next_try_at INTEGER;
ALTER TABLE operations ADD COLUMN has_permit INTEGER NOT NULL DEFAULT 0;

CREATE INDEX operations_waiting ON operations (waits_for, waits_in, waits_since, id)
    WHERE waits_for IS NOT NULL AND ended_at IS NULL;
