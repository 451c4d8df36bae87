-- What a plan counts, by its size. The plans of a caller are counted, and those that are over longest are found, by an index.

ALTER TABLE plans ADD COLUMN units BIGINT NOT NULL DEFAULT 1;

CREATE INDEX plans_of_creator ON plans (created_by, over_at, id);
DROP INDEX plans_by_creator;
