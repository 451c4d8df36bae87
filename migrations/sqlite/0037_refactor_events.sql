-- The events that a refactor brings to the history of its groups, as JSON. A history is read without the records.
ALTER TABLE refactors ADD COLUMN events TEXT NOT NULL DEFAULT '[]';
