-- The schemas that the CloudFormation registry told of, by account, region and type. The one that was fetched last is
-- current; others stay for as long as a live operation was validated with them.
CREATE TABLE type_schemas (
    key             TEXT NOT NULL,
    fingerprint     TEXT NOT NULL,
    text            TEXT NOT NULL,
    is_provisioned  INTEGER NOT NULL,
    fetched_at      INTEGER NOT NULL,
    PRIMARY KEY (key, fingerprint)
) STRICT;
