-- Planes, resource groups and credentials lie alike: their id, and what is their own as JSON.
--
-- Contract: servers of earlier versions cannot work on these tables any more, so stop them first.

ALTER TABLE planes ADD COLUMN id TEXT NOT NULL DEFAULT '';
ALTER TABLE planes ADD COLUMN parent_key TEXT NOT NULL DEFAULT '/planes';
UPDATE planes SET id = '/planes/' || kind || '/' || name;
ALTER TABLE planes RENAME COLUMN properties TO body;
ALTER TABLE planes DROP COLUMN kind;
ALTER TABLE planes DROP COLUMN name;

ALTER TABLE resource_groups ADD COLUMN id TEXT NOT NULL DEFAULT '';
ALTER TABLE resource_groups ADD COLUMN parent_key TEXT NOT NULL DEFAULT '';
ALTER TABLE resource_groups ADD COLUMN body TEXT NOT NULL DEFAULT '{}';
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

-- SQLite cannot drop a column that a CHECK names.
CREATE TABLE new_credentials (
    key        TEXT NOT NULL PRIMARY KEY,
    id         TEXT NOT NULL,
    parent_key TEXT NOT NULL,
    location   TEXT NOT NULL,
    tags       TEXT NOT NULL,
    body       TEXT NOT NULL,
    secret     BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision   INTEGER NOT NULL
) STRICT;
INSERT INTO new_credentials (key, id, parent_key, location, tags, body, secret, created_at, updated_at, revision)
    SELECT key, '/planes/aws/' || plane || '/providers/System.AWS/credentials/' || name, '/planes/aws/' || plane_key,
        location, tags,
        CASE WHEN access_key_id IS NULL
            THEN '{"irsa":{"roleArn":' || json_quote(role_arn) || '}}'
            ELSE '{"accessKey":{"accessKeyId":' || json_quote(access_key_id) || '}}'
        END,
        secret, created_at, updated_at, revision
    FROM credentials;
DROP TABLE credentials;
ALTER TABLE new_credentials RENAME TO credentials;
CREATE INDEX credentials_parent ON credentials (parent_key, key);
