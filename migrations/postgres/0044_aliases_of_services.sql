-- The references of a service instance are those of its group whose aliases begin with its id and a colon. Few others have a
-- colon. An alias is the tenth part of a key, since that begins with a slash.
CREATE INDEX resource_references_of_service ON resource_references (
    (group_key || '/' || split_part(key, '/', 10))
) WHERE strpos(split_part(key, '/', 10), ':') > 0;
