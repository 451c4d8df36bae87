-- How to sign in to AWS: an access key, whose secret is sealed, or a role.
CREATE TABLE credentials (
    key           TEXT NOT NULL PRIMARY KEY,
    plane_key     TEXT NOT NULL,
    plane         TEXT NOT NULL,
    name          TEXT NOT NULL,
    location      TEXT NOT NULL,
    tags          TEXT NOT NULL,
    access_key_id TEXT,
    role_arn      TEXT,
    secret        BLOB,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    CHECK ((access_key_id IS NULL) <> (role_arn IS NULL))
) STRICT;

CREATE INDEX credentials_plane ON credentials (plane_key, key);
