-- Whether the caller has told the reference to own its resource. A reference deletes what carries another reference's
-- mark only then.
ALTER TABLE resource_references ADD COLUMN told_to_own INTEGER NOT NULL DEFAULT 0 CHECK (told_to_own IN (0, 1));
