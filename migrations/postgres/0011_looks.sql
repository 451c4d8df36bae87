-- A request that looks at AWS before its operation is accepted passes on what it has seen: sealed, and erased with the
-- first step.
--
-- Contract: servers of earlier versions do not erase it, so stop them first, as for the migration before this one.

ALTER TABLE operations ADD COLUMN look BYTEA;

-- The operation that ended last on an AWS resource is the last entry of its key: the time of end, then the id.
DROP INDEX operations_ended_target;
CREATE INDEX operations_ended_target ON operations (target_key, ended_at, id) WHERE target_key IS NOT NULL;
