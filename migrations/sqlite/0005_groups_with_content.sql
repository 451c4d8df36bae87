-- Operations on groups are rows of `operations` too, with empty texts where others name their resource: `plane` and
-- `group_name` name the group, `options` has what is to be imported, `result` what came of it so far. `group_key` also
-- stands with the operations on a group's references.

ALTER TABLE resource_groups ADD COLUMN deletion TEXT;

ALTER TABLE mappings ADD COLUMN tags TEXT NOT NULL DEFAULT '{}';

ALTER TABLE operations ADD COLUMN group_name TEXT;
ALTER TABLE operations ADD COLUMN group_key TEXT;
ALTER TABLE operations ADD COLUMN items_total INTEGER NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN items_done INTEGER NOT NULL DEFAULT 0;

UPDATE operations SET group_key = COALESCE(
        (SELECT mappings.group_key FROM mappings WHERE mappings.key = operations.reference_key),
        substr(reference_key, 1, instr(reference_key, '/providers/') - 1)
    )
    WHERE reference_key IS NOT NULL;

CREATE INDEX operations_group ON operations (group_key, accepted_at, id);
CREATE INDEX operations_parent ON operations (parent) WHERE parent IS NOT NULL;
CREATE INDEX operations_ended ON operations (ended_at) WHERE ended_at IS NOT NULL;
