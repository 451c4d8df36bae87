-- Role assignments: who has which role over what, and who has given it. They lie as planes, groups and credentials do.
CREATE TABLE role_assignments (
    key        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL,
    location   TEXT COLLATE "C" NOT NULL,
    tags       TEXT COLLATE "C" NOT NULL,
    body       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    revision   BIGINT NOT NULL,
    parent_key TEXT COLLATE "C" NOT NULL
);
