-- How to sign in to AWS: an access key, whose secret is sealed, or a role.
CREATE TABLE credentials (
    key           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    plane_key     TEXT COLLATE "C" NOT NULL,
    plane         TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    location      TEXT COLLATE "C" NOT NULL,
    tags          TEXT COLLATE "C" NOT NULL,
    access_key_id TEXT COLLATE "C",
    role_arn      TEXT COLLATE "C",
    secret        BYTEA,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    CHECK ((access_key_id IS NULL) <> (role_arn IS NULL))
);

CREATE INDEX credentials_plane ON credentials (plane_key, key);
