-- Plans that are kept. `content` is what a plan shows and was made for, `declared` what was declared for it, which is erased
-- when the plan is over; both are sealed. `course` is what has become of it. `over_at` is when it is over, or the greatest
-- number while an operation carries it out.
CREATE TABLE plans (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    plane       TEXT COLLATE "C" NOT NULL,
    group_id    TEXT COLLATE "C",
    created_by  TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    course      TEXT COLLATE "C" NOT NULL,
    over_at     BIGINT NOT NULL,
    content     BYTEA NOT NULL,
    declared    BYTEA
);

CREATE INDEX plans_by_creator ON plans (created_by, expires_at, id);
CREATE INDEX plans_over ON plans (over_at, id);
CREATE INDEX plans_to_erase ON plans (expires_at, id) WHERE declared IS NOT NULL;
