-- The identity of the process signs only for planes that say so. Until now it signed wherever no credential was stored: it
-- goes on to do so for the plane that every server has. Servers of the previous release ignore the setting.

UPDATE planes
SET body = '{"credentials":"ambient"' || CASE WHEN body = '{}' THEN '}' ELSE ',' || substr(body, 2) END
WHERE key = '/planes/aws/aws'
    AND body NOT LIKE '%"credentials"%'
    AND NOT EXISTS (SELECT 1 FROM credentials WHERE key = '/planes/aws/aws/providers/system.aws/credentials/default');
