-- What a reference keeps when it is moved to another alias or group. Rows without one have that of their key: they were
-- written before this, or by a server of an earlier version.
ALTER TABLE resource_references ADD COLUMN lineage TEXT COLLATE "C";
