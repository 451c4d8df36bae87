-- When an operation whose request is in flight has to look after that itself, since the request takes too long, or is to be
-- cancelled once more. A watch puts it off for no longer, and not at all where nothing is known: a server of an earlier version
-- leaves it as it is. The next step of this version writes it.
ALTER TABLE operations ADD COLUMN asks_by INTEGER;
