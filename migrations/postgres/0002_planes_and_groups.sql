-- Planes become resources, and groups have tags for what is put into them. The defaults are for the rows that are there.

ALTER TABLE planes ADD COLUMN location TEXT COLLATE "C" NOT NULL DEFAULT 'global';
ALTER TABLE planes ADD COLUMN tags TEXT COLLATE "C" NOT NULL DEFAULT '{}';
ALTER TABLE planes ADD COLUMN properties TEXT COLLATE "C" NOT NULL DEFAULT '{}';
ALTER TABLE planes ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE planes ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;

UPDATE planes SET updated_at = created_at;
UPDATE planes SET properties = '{"resourceProviders":{}}' WHERE kind = 'radius';

ALTER TABLE resource_groups ADD COLUMN default_tags TEXT COLLATE "C" NOT NULL DEFAULT '{}';
