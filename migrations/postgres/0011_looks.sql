-- A request that looks at AWS before its operation is accepted passes on what it has seen: sealed, and erased with the
-- first step.
--
-- Contract: servers of earlier versions do not erase it, so stop them first, as for the migration before this one.

ALTER TABLE operations ADD COLUMN look BYTEA;
