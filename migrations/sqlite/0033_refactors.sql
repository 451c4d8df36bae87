-- What a reference keeps when it is moved to another alias or group. Rows without one have that of their key: they were
-- written before this.
ALTER TABLE resource_references ADD COLUMN lineage TEXT;

CREATE UNIQUE INDEX resource_references_by_lineage ON resource_references (COALESCE(lineage, key));

-- That of the reference that a leftover names. Without one, it is that of the reference's key.
ALTER TABLE leftovers ADD COLUMN lineage TEXT;
