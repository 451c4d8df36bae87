-- Planes, resource groups and credentials lie alike: their id, and what is their own as JSON.
--
-- Contract: servers of earlier versions cannot work on these tables any more, so stop them first.
-- squawk-ignore-file ban-drop-column, renaming-column

ALTER TABLE planes ADD COLUMN id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE planes ADD COLUMN parent_key TEXT COLLATE "C" NOT NULL DEFAULT '/planes';
UPDATE planes SET id = '/planes/' || kind || '/' || name;
ALTER TABLE planes RENAME COLUMN properties TO body;
ALTER TABLE planes DROP COLUMN kind;
ALTER TABLE planes DROP COLUMN name;

ALTER TABLE resource_groups ADD COLUMN id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE resource_groups ADD COLUMN parent_key TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE resource_groups ADD COLUMN body TEXT COLLATE "C" NOT NULL DEFAULT '{}';
UPDATE resource_groups SET
    id = '/planes/radius/' || plane || '/resourcegroups/' || name,
    parent_key = '/planes/radius/' || plane_key,
    body = '{"defaultTags":' || default_tags || '}';
DROP INDEX resource_groups_plane;
ALTER TABLE resource_groups DROP COLUMN plane_key;
ALTER TABLE resource_groups DROP COLUMN plane;
ALTER TABLE resource_groups DROP COLUMN name;
ALTER TABLE resource_groups DROP COLUMN default_tags;
CREATE INDEX resource_groups_parent ON resource_groups (parent_key, key);

ALTER TABLE credentials ADD COLUMN id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE credentials ADD COLUMN parent_key TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE credentials ADD COLUMN body TEXT COLLATE "C" NOT NULL DEFAULT '{}';
UPDATE credentials SET
    id = '/planes/aws/' || plane || '/providers/System.AWS/credentials/' || name,
    parent_key = '/planes/aws/' || plane_key,
    body = CASE WHEN access_key_id IS NULL
        THEN '{"irsa":{"roleArn":' || to_json(role_arn) || '}}'
        ELSE '{"accessKey":{"accessKeyId":' || to_json(access_key_id) || '}}'
    END;
DROP INDEX credentials_plane;
ALTER TABLE credentials DROP COLUMN plane_key;
ALTER TABLE credentials DROP COLUMN plane;
ALTER TABLE credentials DROP COLUMN name;
ALTER TABLE credentials DROP COLUMN access_key_id;
ALTER TABLE credentials DROP COLUMN role_arn;
CREATE INDEX credentials_parent ON credentials (parent_key, key);
