-- Tokens by which callers are known. Of the secret there is only its SHA-256 digest: it has 256 random bits, so that a slow
-- hash would add nothing. `ends_at` is the earlier of `expires_at` and `revoked_at`, or the greatest number.
CREATE TABLE tokens (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name         TEXT COLLATE "C" NOT NULL,
    digest       TEXT COLLATE "C" NOT NULL,
    role         TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT,
    ends_at      BIGINT NOT NULL
);

CREATE INDEX tokens_end ON tokens (ends_at, id);
