-- How often in a row the lease of an operation ran out before its holder had written a step. A step that never ends would
-- be taken over for ever.
ALTER TABLE operations ADD COLUMN takeovers INTEGER NOT NULL DEFAULT 0;
