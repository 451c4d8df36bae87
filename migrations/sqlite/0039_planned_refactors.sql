-- The refactors that a caller has planned. Only the latest ones are kept.
CREATE INDEX refactors_planned_by ON refactors (created_by, created_at, id) WHERE status = 'Planned';
