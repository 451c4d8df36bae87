-- The resources of global services are the same in every region of an account, so the keys of AWS resources name `aws-global` for
-- them in place of a region. Servers of earlier versions must be stopped first: they go on to write and compare the region.
CREATE FUNCTION without_region(target TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(
        target,
        '^([^/]+)/[^/]+/(AWS::(CloudFront|GlobalAccelerator|IAM|NetworkManager|Organizations|Route53|Route53RecoveryControl|Shield|WAF)::)',
        '\1/aws-global/\2'
    )
$$;

-- Of several owners of one resource, the one stays whose mark it bears, or else the first.
UPDATE resource_references SET owned = 0, told_to_own = 0, revision = revision + 1
WHERE key IN (
    SELECT key FROM (
        SELECT key, row_number() OVER (
            PARTITION BY without_region(target_key) ORDER BY marked DESC, created_at, key
        ) AS place
        FROM resource_references WHERE owned = 1 AND target_key IS NOT NULL
    ) AS owners
    WHERE place > 1
);

UPDATE resource_references SET target_key = without_region(target_key)
WHERE target_key <> without_region(target_key);

-- Of several live operations on one resource, the first keeps the others off that come now. These go on without it.
UPDATE operations SET held_target_key = NULL
WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (
            PARTITION BY without_region(held_target_key) ORDER BY accepted_at, id
        ) AS place
        FROM operations WHERE held_target_key IS NOT NULL
    ) AS holders
    WHERE place > 1
);

UPDATE operations SET held_target_key = without_region(held_target_key)
WHERE held_target_key <> without_region(held_target_key);

UPDATE operations SET target_key = without_region(target_key)
WHERE target_key <> without_region(target_key);

UPDATE leftovers SET target_key = without_region(target_key)
WHERE target_key <> without_region(target_key);

-- Of several entries of one resource, the first is that of its subject. All go with the resource.
UPDATE leftovers SET subject_key = without_region(subject_key)
WHERE key IN (
    SELECT key FROM (
        SELECT key, row_number() OVER (
            PARTITION BY register_key, without_region(subject_key) ORDER BY since, key
        ) AS place
        FROM leftovers
    ) AS entries
    WHERE place = 1
) AND subject_key <> without_region(subject_key);

-- Nobody else knows it.
-- squawk-ignore ban-drop-function
DROP FUNCTION without_region(TEXT);
