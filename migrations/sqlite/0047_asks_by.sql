-- When an operation whose request is in flight has to look after that itself, since the request takes too long, or is to be
-- cancelled once more. A watch puts it off for no longer. A server of an earlier version leaves it as it is, which only means
-- that some operations are asked after once too often.
ALTER TABLE operations ADD COLUMN asks_by INTEGER;
