-- The register of leftovers: AWS resources that live because of us, or may, although no alias stands for them. A register
-- is that of a group, or of an account and region. `subject_key` says what an entry is about: the AWS resource
-- (`target_key`), or what led to it if that is not known.
CREATE TABLE leftovers (
    key          TEXT NOT NULL PRIMARY KEY,
    register_key TEXT NOT NULL,
    subject_key  TEXT NOT NULL,
    target_key   TEXT,
    name         TEXT NOT NULL,
    group_id     TEXT,
    plane        TEXT NOT NULL,
    account      TEXT NOT NULL,
    region       TEXT NOT NULL,
    type_name    TEXT NOT NULL,
    identifier   TEXT,
    reason       TEXT NOT NULL,
    reference    TEXT,
    operation    TEXT NOT NULL,
    since        INTEGER NOT NULL,
    tries        INTEGER NOT NULL,
    last_error   TEXT,
    next_try_at  INTEGER NOT NULL
) STRICT;

-- One entry for each subject.
CREATE UNIQUE INDEX leftovers_subject ON leftovers (register_key, subject_key);
CREATE INDEX leftovers_target ON leftovers (target_key) WHERE target_key IS NOT NULL;
-- Only what is ours is tried.
CREATE INDEX leftovers_due ON leftovers (next_try_at, key) WHERE reason IN ('Undeleted', 'Orphan');
