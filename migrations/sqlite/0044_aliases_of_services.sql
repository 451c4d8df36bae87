-- The references of a service instance are those of its group whose aliases begin with its id and a colon. Few others have a
-- colon. An alias is what comes after the last slash of a key.
CREATE INDEX resource_references_of_service ON resource_references (
    group_key || '/' || substr(key, length(rtrim(key, replace(key, '/', ''))) + 1)
) WHERE instr(substr(key, length(rtrim(key, replace(key, '/', ''))) + 1), ':') > 0;
