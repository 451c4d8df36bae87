-- Whether somebody has reviewed a plan or carried it out. Such a plan does not count. In the text of the course, the
-- approvals and the rejection come first, and the uses last.

ALTER TABLE plans ADD COLUMN relied_on BIGINT NOT NULL DEFAULT 0;

UPDATE plans SET relied_on = 1 WHERE course NOT LIKE '{"approvals":[],"rejection":null,%"uses":[]}';

CREATE INDEX plans_counted ON plans (created_by, over_at, id) WHERE relied_on = 0;
DROP INDEX plans_of_creator;
