-- What is known of a create whose outcome is not, as JSON. A resolve decides by it.
ALTER TABLE leftovers ADD COLUMN unknown_create TEXT COLLATE "C";

-- What a resolve has found out.
ALTER TABLE events ADD COLUMN message TEXT COLLATE "C";

-- What is ours is deleted again, and what came of a create under an alias is looked up again.
DROP INDEX leftovers_due;
CREATE INDEX leftovers_due ON leftovers (next_try_at, key)
    WHERE reason IN ('Undeleted', 'Orphan') OR reason = 'OutcomeUnknown' AND reference IS NOT NULL;
