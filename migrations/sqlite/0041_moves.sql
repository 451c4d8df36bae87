-- How many writes of a reference only gave it another id. A move that earlier servers have made counts as another write.
ALTER TABLE resource_references ADD COLUMN moves INTEGER NOT NULL DEFAULT 0 CHECK (moves >= 0);
