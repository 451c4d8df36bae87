-- The service instances that platforms have ordered, and their bindings. `record` is the sealed record as JSON, `gone_at` when it
-- was deleted. What was ordered in a group goes with it, also if a server of an earlier version removes that.
CREATE TABLE broker_instances (
    key       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    group_key TEXT COLLATE "C" NOT NULL REFERENCES resource_groups (key) ON DELETE CASCADE,
    revision  BIGINT NOT NULL,
    gone_at   BIGINT,
    record    TEXT COLLATE "C" NOT NULL
);

CREATE INDEX broker_instances_of_group ON broker_instances (group_key, gone_at);
CREATE INDEX broker_instances_gone ON broker_instances (gone_at, key) WHERE gone_at IS NOT NULL;

CREATE TABLE broker_bindings (
    key          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    instance_key TEXT COLLATE "C" NOT NULL REFERENCES broker_instances (key) ON DELETE CASCADE,
    gone_at      BIGINT,
    record       TEXT COLLATE "C" NOT NULL
);

CREATE INDEX broker_bindings_of_instance ON broker_bindings (instance_key, gone_at, key);
CREATE INDEX broker_bindings_gone ON broker_bindings (gone_at, key) WHERE gone_at IS NOT NULL;
