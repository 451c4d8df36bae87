-- The schemas that the CloudFormation registry told of, by account, region and type. The one that was fetched last is
-- current; others stay for as long as a live operation was validated with them.
CREATE TABLE type_schemas (
    key             TEXT COLLATE "C" NOT NULL,
    fingerprint     TEXT COLLATE "C" NOT NULL,
    text            TEXT COLLATE "C" NOT NULL,
    is_provisioned  BIGINT NOT NULL,
    fetched_at      BIGINT NOT NULL,
    PRIMARY KEY (key, fingerprint)
);
