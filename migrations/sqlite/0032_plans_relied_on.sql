-- Whether somebody has reviewed a plan or carried it out. Such a plan makes no room for others. In the text of the course, the
-- approvals and the rejection come first, and the uses last.

ALTER TABLE plans ADD COLUMN relied_on INTEGER NOT NULL DEFAULT 0;

UPDATE plans SET relied_on = 1 WHERE course NOT LIKE '{"approvals":[],"rejection":null,%"uses":[]}';
