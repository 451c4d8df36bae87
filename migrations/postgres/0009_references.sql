-- An alias and the resource it stands for are called a reference everywhere. REFERENCES is a reserved word of SQL, so the
-- table is called resource_references.
--
-- Contract: servers of earlier versions ask for the old name, so stop them first.
-- squawk-ignore-file renaming-object, renaming-table

ALTER TABLE mappings RENAME TO resource_references;
ALTER TABLE resource_references RENAME CONSTRAINT mappings_pkey TO resource_references_pkey;
ALTER TABLE resource_references RENAME CONSTRAINT mappings_group_key_fkey TO resource_references_group_key_fkey;
ALTER TABLE resource_references RENAME CONSTRAINT mappings_owned_check TO resource_references_owned_check;
ALTER INDEX mappings_group RENAME TO resource_references_group;
ALTER INDEX mappings_target RENAME TO resource_references_target;
ALTER INDEX mappings_one_owner RENAME TO resource_references_one_owner;
