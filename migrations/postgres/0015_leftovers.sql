-- The register of leftovers: AWS resources that live because of us, or may, although no alias stands for them. A register
-- is that of a group, or of an account and region. `subject_key` says what an entry is about: the AWS resource
-- (`target_key`), or what led to it if that is not known.
CREATE TABLE leftovers (
    key          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    register_key TEXT COLLATE "C" NOT NULL,
    subject_key  TEXT COLLATE "C" NOT NULL,
    target_key   TEXT COLLATE "C",
    name         TEXT COLLATE "C" NOT NULL,
    group_id     TEXT COLLATE "C",
    plane        TEXT COLLATE "C" NOT NULL,
    account      TEXT COLLATE "C" NOT NULL,
    region       TEXT COLLATE "C" NOT NULL,
    type_name    TEXT COLLATE "C" NOT NULL,
    identifier   TEXT COLLATE "C",
    reason       TEXT COLLATE "C" NOT NULL,
    reference    TEXT COLLATE "C",
    operation    TEXT COLLATE "C" NOT NULL,
    since        BIGINT NOT NULL,
    tries        BIGINT NOT NULL,
    last_error   TEXT COLLATE "C",
    next_try_at  BIGINT NOT NULL
);

-- One entry for each subject.
CREATE UNIQUE INDEX leftovers_subject ON leftovers (register_key, subject_key);
CREATE INDEX leftovers_target ON leftovers (target_key) WHERE target_key IS NOT NULL;
-- Only what is ours is tried.
CREATE INDEX leftovers_due ON leftovers (next_try_at, key) WHERE reason IN ('Undeleted', 'Orphan');
