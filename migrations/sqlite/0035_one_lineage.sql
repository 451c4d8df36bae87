-- No two references have the same lineage at one time.
CREATE UNIQUE INDEX resource_references_by_lineage ON resource_references (COALESCE(lineage, key));
