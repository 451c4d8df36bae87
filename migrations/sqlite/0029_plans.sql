-- Plans that are kept. `content` is what a plan shows and was made for, `declared` what was declared for it, which is erased
-- when the plan is over; both are sealed. `course` is what has become of it. `over_at` is when it is over, or the greatest
-- number while an operation carries it out.
CREATE TABLE plans (
    id          TEXT NOT NULL PRIMARY KEY,
    plane       TEXT NOT NULL,
    group_id    TEXT,
    created_by  TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    course      TEXT NOT NULL,
    over_at     INTEGER NOT NULL,
    content     BLOB NOT NULL,
    declared    BLOB
) STRICT;

CREATE INDEX plans_by_creator ON plans (created_by, expires_at, id);
CREATE INDEX plans_over ON plans (over_at, id);
CREATE INDEX plans_to_erase ON plans (expires_at, id) WHERE declared IS NOT NULL;
