-- What an alias stands for is called a reference everywhere. REFERENCES is a reserved word of SQL, so the table says of what.
--
-- Contract: servers of earlier versions ask for the old name, so stop them first.
-- squawk-ignore-file renaming-table

ALTER TABLE mappings RENAME TO resource_references;
ALTER INDEX mappings_group RENAME TO resource_references_group;
ALTER INDEX mappings_target RENAME TO resource_references_target;
ALTER INDEX mappings_one_owner RENAME TO resource_references_one_owner;
