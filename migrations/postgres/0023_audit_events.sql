-- The audit: who asked for what, and whether he was let. Rows are only ever added, and removed when they are old enough.
CREATE TABLE audit_events (
    sequence       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at             BIGINT NOT NULL,
    caller         TEXT COLLATE "C" NOT NULL,
    peer           TEXT COLLATE "C",
    action         TEXT COLLATE "C" NOT NULL,
    id             TEXT COLLATE "C" NOT NULL,
    outcome        TEXT COLLATE "C" NOT NULL,
    status         BIGINT,
    code           TEXT COLLATE "C",
    correlation_id TEXT COLLATE "C" NOT NULL,
    request_id     TEXT COLLATE "C" NOT NULL,
    operation      TEXT COLLATE "C",
    suppressed     BIGINT NOT NULL
);

CREATE INDEX audit_events_at ON audit_events (at, sequence);
