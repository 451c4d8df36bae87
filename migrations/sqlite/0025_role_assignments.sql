-- Role assignments: who has which role over what, and who has given it. They lie as planes, groups and credentials do.
CREATE TABLE role_assignments (
    key        TEXT NOT NULL PRIMARY KEY,
    id         TEXT NOT NULL,
    location   TEXT NOT NULL,
    tags       TEXT NOT NULL,
    body       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    parent_key TEXT NOT NULL
) STRICT;
