-- One apply to a group is live at a time. The index keeps a second one off, and finds the first.

CREATE UNIQUE INDEX operations_one_apply ON operations (held_group_key)
    WHERE kind = 'applyGroup' AND held_group_key IS NOT NULL;
