-- What a role assignment gave before a request and gives since, as JSON. Null for any other event.

ALTER TABLE audit_events ADD COLUMN change TEXT;
