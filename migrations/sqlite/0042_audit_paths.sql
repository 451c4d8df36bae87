-- Where a write changed a plane, a resource group or a credential, as a JSON array of JSON Pointers. Null for any other event.

ALTER TABLE audit_events ADD COLUMN paths TEXT;
