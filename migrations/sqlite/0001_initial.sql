-- Times are milliseconds since the Unix epoch, given by the caller's clock. Truth values are 0 and 1. JSON is text, so
-- that key order and numbers survive. Keys are folded by the program, never by a collation.

CREATE TABLE planes (
    key        TEXT NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE resource_groups (
    key        TEXT NOT NULL PRIMARY KEY,
    plane_key  TEXT NOT NULL,
    plane      TEXT NOT NULL,
    name       TEXT NOT NULL,
    location   TEXT NOT NULL,
    tags       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision   INTEGER NOT NULL
) STRICT;

CREATE INDEX resource_groups_plane ON resource_groups (plane_key, key);

-- Which AWS resource an alias stands for. `target_key` names it as far as it is known.
CREATE TABLE mappings (
    key                TEXT NOT NULL PRIMARY KEY,
    id                 TEXT NOT NULL,
    group_key          TEXT NOT NULL REFERENCES resource_groups (key),
    plane              TEXT NOT NULL,
    account            TEXT NOT NULL,
    region             TEXT NOT NULL,
    identifier         TEXT,
    target_key         TEXT,
    owned              INTEGER NOT NULL CHECK (owned IN (0, 1)),
    provisioning_state TEXT NOT NULL,
    baseline           TEXT,
    observed           TEXT,
    observed_at        INTEGER,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    revision           INTEGER NOT NULL
) STRICT;

CREATE INDEX mappings_group ON mappings (group_key, key);
CREATE INDEX mappings_target ON mappings (target_key);
-- Several references may map one AWS resource; at most one owns it.
CREATE UNIQUE INDEX mappings_one_owner ON mappings (target_key) WHERE owned = 1;

-- The row that is also the job. `target_key` is the AWS resource that no other live operation may work on; it is null
-- when it is not known, or when another live operation was first.
CREATE TABLE operations (
    id                 TEXT NOT NULL PRIMARY KEY,
    kind               TEXT NOT NULL,
    plane              TEXT NOT NULL,
    account            TEXT NOT NULL,
    region             TEXT NOT NULL,
    type_name          TEXT NOT NULL,
    reference          TEXT,
    reference_key      TEXT,
    identifier         TEXT,
    target_key         TEXT,
    was_mapped         INTEGER NOT NULL CHECK (was_mapped IN (0, 1)),
    created            INTEGER NOT NULL CHECK (created IN (0, 1)),
    options            TEXT NOT NULL,
    state              TEXT NOT NULL,
    action             TEXT,
    client_token       TEXT,
    token_issued_at    INTEGER,
    base_digest        TEXT,
    unanswered_sends   INTEGER,
    request_token      TEXT,
    failure            TEXT,
    state_since        INTEGER NOT NULL,
    attempt            INTEGER NOT NULL,
    due_at             INTEGER NOT NULL,
    changes            TEXT NOT NULL,
    result             TEXT,
    schema_fingerprint TEXT NOT NULL,
    parent             TEXT,
    correlation_id     TEXT NOT NULL,
    caller             TEXT NOT NULL,
    accepted_at        INTEGER NOT NULL,
    ended_at           INTEGER,
    -- Sealed; erased when the operation ends.
    desired            BLOB,
    document           BLOB,
    -- The right to write: the owner, while the generation is his.
    generation         INTEGER NOT NULL,
    lease_owner        TEXT,
    lease_expires_at   INTEGER,
    CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'canceled'))),
    CHECK (ended_at IS NULL OR (desired IS NULL AND document IS NULL AND lease_owner IS NULL)),
    CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX operations_one_per_reference ON operations (reference_key) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX operations_one_per_target ON operations (target_key) WHERE ended_at IS NULL;
CREATE INDEX operations_due ON operations (due_at, id) WHERE ended_at IS NULL;

-- The history. Rows are only ever added.
CREATE TABLE events (
    sequence       INTEGER PRIMARY KEY AUTOINCREMENT,
    at             INTEGER NOT NULL,
    caller         TEXT NOT NULL,
    kind           TEXT NOT NULL,
    operation      TEXT,
    correlation_id TEXT NOT NULL,
    reference      TEXT,
    reference_key  TEXT,
    resource       TEXT,
    changes        TEXT NOT NULL,
    outcome        TEXT NOT NULL,
    code           TEXT
) STRICT;

CREATE INDEX events_reference ON events (reference_key, sequence);

-- Keys of the digests that stand in place of write-only values, sealed. At most one is current.
CREATE TABLE digest_keys (
    id         TEXT NOT NULL PRIMARY KEY,
    key        BLOB NOT NULL,
    is_current INTEGER UNIQUE CHECK (is_current = 1),
    created_at INTEGER NOT NULL
) STRICT;
