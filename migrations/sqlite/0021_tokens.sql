-- Tokens by which callers are known. Of the secret there is only its SHA-256 digest: it has 256 random bits, so that a slow
-- hash would add nothing. `ends_at` is the earlier of `expires_at` and `revoked_at`, or the greatest number.
CREATE TABLE tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL,
    digest       TEXT NOT NULL,
    role         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    ends_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX tokens_end ON tokens (ends_at, id);
