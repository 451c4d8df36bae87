-- An alias and the resource it stands for are called a reference everywhere. REFERENCES is a reserved word of SQL, so the
-- table is called resource_references.
--
-- Contract: servers of earlier versions ask for the old name, so stop them first.

ALTER TABLE mappings RENAME TO resource_references;

-- SQLite renames no index.
DROP INDEX mappings_group;
DROP INDEX mappings_target;
DROP INDEX mappings_one_owner;
CREATE INDEX resource_references_group ON resource_references (group_key, key);
CREATE INDEX resource_references_target ON resource_references (target_key);
CREATE UNIQUE INDEX resource_references_one_owner ON resource_references (target_key) WHERE owned = 1;
