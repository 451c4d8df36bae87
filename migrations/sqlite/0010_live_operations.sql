-- What asks for a live operation finds it by a key of its own, so that no statement's plan depends on how many operations
-- are live or have ended:
--
-- * A reference names its live operation.
-- * `held_target_key` is the AWS resource that no other live operation may work on, null when it is not known or when another
--   live operation was first. `held_group_key` is the group that stays while the operation is live. Both are null once the
--   operation has ended. `target_key` is now the resource of an ended operation only.
-- * `ended_children` counts the children that have ended.
--
-- Contract: servers of earlier versions do not write these columns, so stop them first.

ALTER TABLE resource_references ADD COLUMN operation TEXT;
UPDATE resource_references SET operation = live.id
    FROM operations AS live
    WHERE live.reference_key = resource_references.key AND live.ended_at IS NULL;

ALTER TABLE operations ADD COLUMN held_target_key TEXT;
ALTER TABLE operations ADD COLUMN held_group_key TEXT;
ALTER TABLE operations ADD COLUMN ended_children INTEGER NOT NULL DEFAULT 0;
DROP INDEX operations_one_per_target;
DROP INDEX operations_due;
DROP INDEX operations_ended_target;
UPDATE operations SET
    held_target_key = target_key,
    held_group_key = group_key,
    target_key = NULL,
    ended_children = (
        SELECT COUNT(*) FROM operations AS children
        WHERE children.parent = operations.id AND children.ended_at IS NOT NULL
    )
    WHERE ended_at IS NULL;

CREATE UNIQUE INDEX operations_one_per_target ON operations (held_target_key) WHERE held_target_key IS NOT NULL;
CREATE INDEX operations_live_group ON operations (held_group_key, accepted_at, id) WHERE held_group_key IS NOT NULL;
-- When it can be claimed: when it is due and its lease, if any, has expired.
CREATE INDEX operations_claimable ON operations (
    (CASE WHEN lease_expires_at > due_at THEN lease_expires_at ELSE due_at END), id
) WHERE ended_at IS NULL;
CREATE INDEX operations_ended_target ON operations (target_key, ended_at) WHERE target_key IS NOT NULL;
