-- The audit: who asked for what, and whether he was let. Rows are only ever added, and removed when they are old enough.
CREATE TABLE audit_events (
    sequence       INTEGER PRIMARY KEY AUTOINCREMENT,
    at             INTEGER NOT NULL,
    caller         TEXT NOT NULL,
    peer           TEXT,
    action         TEXT NOT NULL,
    id             TEXT NOT NULL,
    outcome        TEXT NOT NULL,
    status         INTEGER,
    code           TEXT,
    correlation_id TEXT NOT NULL,
    request_id     TEXT NOT NULL,
    operation      TEXT,
    suppressed     INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_events_at ON audit_events (at, sequence);
