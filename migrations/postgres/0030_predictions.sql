-- The predictions of operations that have ended, until they are added to the track record of their type. Each has a row
-- of its own, so that operations that end at the same time do not wait for each other.

CREATE TABLE predictions (
    operation TEXT COLLATE "C" PRIMARY KEY,
    -- The aws plane and the type, in lower case.
    key TEXT COLLATE "C" NOT NULL,
    type_name TEXT COLLATE "C" NOT NULL,
    -- Whether AWS shows all that was planned: 0 or 1.
    exact BIGINT NOT NULL
);

CREATE INDEX predictions_of_a_type ON predictions (key);

-- How good the plans of the puts of each type were.
CREATE TABLE track_records (
    key TEXT COLLATE "C" PRIMARY KEY,
    type_name TEXT COLLATE "C" NOT NULL,
    applies BIGINT NOT NULL,
    exact BIGINT NOT NULL
);
