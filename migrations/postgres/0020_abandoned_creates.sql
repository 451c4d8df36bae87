-- Whether the alias of a create of unknown outcome has gone on without what that may have made. The entry is about the
-- create then, not about the alias, which may wait for another one.
ALTER TABLE leftovers ADD COLUMN abandoned BIGINT NOT NULL DEFAULT 0 CHECK (abandoned IN (0, 1));

-- Nothing was ever entered as an orphan, and what was abandoned is not looked up again.
DROP INDEX leftovers_due;
CREATE INDEX leftovers_due ON leftovers (next_try_at, key)
    WHERE reason NOT IN ('Salvage', 'Misnamed') AND abandoned <> 1
        AND (reason <> 'OutcomeUnknown' OR reference IS NOT NULL);
