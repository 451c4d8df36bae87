-- What plans count by their bytes, for each caller, and for each caller and group; the oldest make room. A unit is 4 KiB; it was
-- 64 KiB. Servers of earlier versions write no `group_key`, and plans live for a week at most.

ALTER TABLE plans ADD COLUMN group_key TEXT;

UPDATE plans SET units = units * 16;

CREATE INDEX plans_of_creator ON plans (created_by, created_at, id, units) WHERE relied_on = 0;
CREATE INDEX plans_of_group ON plans (created_by, group_key, created_at, id, units) WHERE relied_on = 0;
DROP INDEX plans_counted;
