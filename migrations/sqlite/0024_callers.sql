-- Who has requested an operation, so that its live operations can be counted. Null for the children of an operation, and for
-- what a server of an earlier version has accepted, which does not count.

ALTER TABLE operations ADD COLUMN caller TEXT;

CREATE INDEX operations_caller ON operations (caller, id) WHERE ended_at IS NULL;
