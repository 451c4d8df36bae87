-- The resources of global services are the same in every region of an account, so the keys of AWS resources name `aws-global` for
-- them in place of a region. Servers of earlier versions must be stopped first: they go on to write and compare the region.
CREATE TABLE global_keys (
    old_key TEXT NOT NULL PRIMARY KEY,
    new_key TEXT NOT NULL
) STRICT;

INSERT INTO global_keys (old_key, new_key)
SELECT key, substr(key, 1, instr(key, '/')) || 'aws-global/' || typed
FROM (
    SELECT key, substr(rest, instr(rest, '/') + 1) AS typed
    FROM (
        SELECT key, substr(key, instr(key, '/') + 1) AS rest
        FROM (
            SELECT target_key AS key FROM resource_references
            UNION SELECT target_key FROM operations
            UNION SELECT held_target_key FROM operations
            UNION SELECT target_key FROM leftovers
            UNION SELECT subject_key FROM leftovers
        )
    )
)
WHERE typed GLOB 'AWS::*::*' AND substr(typed, 6, instr(substr(typed, 6), '::') - 1) IN (
    'CloudFront', 'GlobalAccelerator', 'IAM', 'NetworkManager', 'Organizations', 'Route53', 'Route53RecoveryControl', 'Shield', 'WAF'
);

-- Of several owners of one resource, the one stays whose mark it bears, or else the first.
UPDATE resource_references SET owned = 0, told_to_own = 0, revision = revision + 1
WHERE key IN (
    SELECT key FROM (
        SELECT key, row_number() OVER (PARTITION BY new_key ORDER BY marked DESC, created_at, key) AS place
        FROM resource_references JOIN global_keys ON old_key = target_key
        WHERE owned = 1
    )
    WHERE place > 1
);

UPDATE resource_references SET target_key = (SELECT new_key FROM global_keys WHERE old_key = target_key)
WHERE target_key IN (SELECT old_key FROM global_keys);

-- Of several live operations on one resource, the first keeps the others off that come now. These go on without it.
UPDATE operations SET held_target_key = NULL
WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY new_key ORDER BY accepted_at, id) AS place
        FROM operations JOIN global_keys ON old_key = held_target_key
    )
    WHERE place > 1
);

UPDATE operations SET held_target_key = (SELECT new_key FROM global_keys WHERE old_key = held_target_key)
WHERE held_target_key IN (SELECT old_key FROM global_keys);

UPDATE operations SET target_key = (SELECT new_key FROM global_keys WHERE old_key = target_key)
WHERE target_key IN (SELECT old_key FROM global_keys);

UPDATE leftovers SET target_key = (SELECT new_key FROM global_keys WHERE old_key = target_key)
WHERE target_key IN (SELECT old_key FROM global_keys);

-- Of several entries of one resource, the first is that of its subject. All go with the resource.
UPDATE leftovers SET subject_key = (SELECT new_key FROM global_keys WHERE old_key = subject_key)
WHERE key IN (
    SELECT key FROM (
        SELECT key, row_number() OVER (PARTITION BY register_key, new_key ORDER BY since, key) AS place
        FROM leftovers JOIN global_keys ON old_key = subject_key
    )
    WHERE place = 1
);

DROP TABLE global_keys;
