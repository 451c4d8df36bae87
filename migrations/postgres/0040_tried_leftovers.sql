-- Whatever has an identifier is looked at until it is gone.
DROP INDEX leftovers_due;
CREATE INDEX leftovers_due ON leftovers (next_try_at, key)
    WHERE abandoned <> 1 AND (identifier IS NOT NULL OR reason = 'OutcomeUnknown' AND reference IS NOT NULL);
