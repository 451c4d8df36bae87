-- The records of refactors. `content` is what was found and is done, as JSON. `over_at` is when a record is over, or the greatest
-- number while it is the history of its groups.
CREATE TABLE refactors (
    id TEXT NOT NULL PRIMARY KEY,
    plane TEXT NOT NULL,
    plane_key TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    over_at INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;

CREATE INDEX refactors_of_plane ON refactors (plane_key, created_at, id);
CREATE INDEX refactors_over ON refactors (over_at, id);

-- The groups that a refactor names. `brought_at` is when it brought events to their history, if it has.
CREATE TABLE refactor_groups (
    refactor TEXT NOT NULL REFERENCES refactors (id) ON DELETE CASCADE,
    group_key TEXT NOT NULL,
    plane_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    brought_at INTEGER,
    PRIMARY KEY (refactor, group_key)
) STRICT;

CREATE INDEX refactors_of_group ON refactor_groups (plane_key, group_key, created_at, refactor);
CREATE INDEX refactors_in_history ON refactor_groups (group_key, refactor) WHERE brought_at IS NOT NULL;
