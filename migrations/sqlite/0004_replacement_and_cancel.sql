-- A replacement in progress, as JSON; whether the reference owned what it mapped when the operation began; and when
-- somebody asked to cancel it.
ALTER TABLE operations ADD COLUMN replacing TEXT;
ALTER TABLE operations ADD COLUMN was_owned INTEGER NOT NULL DEFAULT 0 CHECK (was_owned IN (0, 1));
ALTER TABLE operations ADD COLUMN cancel_requested_at INTEGER;
