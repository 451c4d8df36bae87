-- The records of refactors. `content` is what was found and is done, as JSON. `over_at` is when a record is over, or the greatest
-- number while it is the history of its groups.
CREATE TABLE refactors (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    plane       TEXT COLLATE "C" NOT NULL,
    plane_key   TEXT COLLATE "C" NOT NULL,
    created_by  TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    status      TEXT COLLATE "C" NOT NULL,
    changed_at  BIGINT NOT NULL,
    over_at     BIGINT NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    content     TEXT COLLATE "C" NOT NULL
);

CREATE INDEX refactors_of_plane ON refactors (plane_key, created_at, id);
CREATE INDEX refactors_over ON refactors (over_at, id);

-- The groups that a refactor names. `brought_at` is when it brought events to their history, if it has.
CREATE TABLE refactor_groups (
    refactor    TEXT COLLATE "C" NOT NULL REFERENCES refactors (id) ON DELETE CASCADE,
    group_key   TEXT COLLATE "C" NOT NULL,
    plane_key   TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    brought_at  BIGINT,
    PRIMARY KEY (refactor, group_key)
);

CREATE INDEX refactors_of_group ON refactor_groups (plane_key, group_key, created_at, refactor);
CREATE INDEX refactors_in_history ON refactor_groups (group_key, refactor) WHERE brought_at IS NOT NULL;
