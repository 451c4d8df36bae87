-- What a reference keeps when it is moved to another alias or group. Rows without one have that of their key: they were
-- written before this.
ALTER TABLE resource_references ADD COLUMN lineage TEXT;
