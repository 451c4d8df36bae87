-- Whether the reference's own mark has been seen on its resource. A reference deletes what lacks it only if it was told to
-- own it: the name may have passed to another resource.
ALTER TABLE resource_references ADD COLUMN marked BIGINT NOT NULL DEFAULT 0 CHECK (marked IN (0, 1));
