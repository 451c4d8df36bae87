-- That of the reference that a leftover names. Without one, it is that of the reference's key.
ALTER TABLE leftovers ADD COLUMN lineage TEXT COLLATE "C";
