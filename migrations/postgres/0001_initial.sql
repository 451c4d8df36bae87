-- Times are milliseconds since the Unix epoch, given by the caller's clock. Truth values are 0 and 1. JSON is text, so
-- that key order and numbers survive. Keys are folded by the program, never by a collation, and ordered by byte (COLLATE "C").

CREATE TABLE planes (
    key        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE resource_groups (
    key        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    plane_key  TEXT COLLATE "C" NOT NULL,
    plane      TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    location   TEXT COLLATE "C" NOT NULL,
    tags       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    revision   BIGINT NOT NULL
);

CREATE INDEX resource_groups_plane ON resource_groups (plane_key, key);

-- Which AWS resource an alias stands for. `target_key` names it as far as it is known.
CREATE TABLE mappings (
    key                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    id                 TEXT COLLATE "C" NOT NULL,
    group_key          TEXT COLLATE "C" NOT NULL REFERENCES resource_groups (key),
    plane              TEXT COLLATE "C" NOT NULL,
    account            TEXT COLLATE "C" NOT NULL,
    region             TEXT COLLATE "C" NOT NULL,
    identifier         TEXT COLLATE "C",
    target_key         TEXT COLLATE "C",
    owned              BIGINT NOT NULL CHECK (owned IN (0, 1)),
    provisioning_state TEXT COLLATE "C" NOT NULL,
    baseline           TEXT COLLATE "C",
    observed           TEXT COLLATE "C",
    observed_at        BIGINT,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    revision           BIGINT NOT NULL
);

CREATE INDEX mappings_group ON mappings (group_key, key);
CREATE INDEX mappings_target ON mappings (target_key);
-- Several references may map one AWS resource; at most one owns it.
CREATE UNIQUE INDEX mappings_one_owner ON mappings (target_key) WHERE owned = 1;

-- The row that is also the job. `target_key` is the AWS resource that no other live operation may work on; it is null
-- when it is not known, or when another live operation was first.
CREATE TABLE operations (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind               TEXT COLLATE "C" NOT NULL,
    plane              TEXT COLLATE "C" NOT NULL,
    account            TEXT COLLATE "C" NOT NULL,
    region             TEXT COLLATE "C" NOT NULL,
    type_name          TEXT COLLATE "C" NOT NULL,
    reference          TEXT COLLATE "C",
    reference_key      TEXT COLLATE "C",
    identifier         TEXT COLLATE "C",
    target_key         TEXT COLLATE "C",
    was_mapped         BIGINT NOT NULL CHECK (was_mapped IN (0, 1)),
    created            BIGINT NOT NULL CHECK (created IN (0, 1)),
    options            TEXT COLLATE "C" NOT NULL,
    state              TEXT COLLATE "C" NOT NULL,
    action             TEXT COLLATE "C",
    client_token       TEXT COLLATE "C",
    token_issued_at    BIGINT,
    base_digest        TEXT COLLATE "C",
    unanswered_sends   BIGINT,
    request_token      TEXT COLLATE "C",
    failure            TEXT COLLATE "C",
    state_since        BIGINT NOT NULL,
    attempt            BIGINT NOT NULL,
    due_at             BIGINT NOT NULL,
    changes            TEXT COLLATE "C" NOT NULL,
    result             TEXT COLLATE "C",
    schema_fingerprint TEXT COLLATE "C" NOT NULL,
    parent             TEXT COLLATE "C",
    correlation_id     TEXT COLLATE "C" NOT NULL,
    caller             TEXT COLLATE "C" NOT NULL,
    accepted_at        BIGINT NOT NULL,
    ended_at           BIGINT,
    -- Sealed; erased when the operation ends.
    desired            BYTEA,
    document           BYTEA,
    -- The right to write: the owner, while the generation is his.
    generation         BIGINT NOT NULL,
    lease_owner        TEXT COLLATE "C",
    lease_expires_at   BIGINT,
    CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'canceled'))),
    CHECK (ended_at IS NULL OR (desired IS NULL AND document IS NULL AND lease_owner IS NULL)),
    CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL))
);

CREATE UNIQUE INDEX operations_one_per_reference ON operations (reference_key) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX operations_one_per_target ON operations (target_key) WHERE ended_at IS NULL;
CREATE INDEX operations_due ON operations (due_at, id) WHERE ended_at IS NULL;

-- The history. Rows are only ever added.
CREATE TABLE events (
    sequence       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at             BIGINT NOT NULL,
    caller         TEXT COLLATE "C" NOT NULL,
    kind           TEXT COLLATE "C" NOT NULL,
    operation      TEXT COLLATE "C",
    correlation_id TEXT COLLATE "C" NOT NULL,
    reference      TEXT COLLATE "C",
    reference_key  TEXT COLLATE "C",
    resource       TEXT COLLATE "C",
    changes        TEXT COLLATE "C" NOT NULL,
    outcome        TEXT COLLATE "C" NOT NULL,
    code           TEXT COLLATE "C"
);

CREATE INDEX events_reference ON events (reference_key, sequence);

-- Keys of the digests that stand in place of write-only values, sealed. At most one is current.
CREATE TABLE digest_keys (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    key        BYTEA NOT NULL,
    is_current BIGINT UNIQUE CHECK (is_current = 1),
    created_at BIGINT NOT NULL
);
