-- The groups that the deployment of a refactor holds until it ends. Nothing else works on one of them as a whole.
CREATE TABLE held_groups (
    group_key TEXT NOT NULL PRIMARY KEY,
    operation TEXT NOT NULL
);
CREATE INDEX held_groups_operation ON held_groups (operation);
