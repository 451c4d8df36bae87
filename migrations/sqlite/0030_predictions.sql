-- The predictions of operations that have ended, until they are added to the track record of their type. Each has a row
-- of its own, so that operations that end at the same time do not wait for each other.

CREATE TABLE predictions (
    operation TEXT NOT NULL PRIMARY KEY,
    -- The aws plane and the type, in lower case.
    key TEXT NOT NULL,
    type_name TEXT NOT NULL,
    -- Whether AWS shows all that was planned: 0 or 1.
    exact INTEGER NOT NULL
) STRICT;

CREATE INDEX predictions_of_a_type ON predictions (key);

-- How good the plans of the puts of each type were.
CREATE TABLE track_records (
    key TEXT NOT NULL PRIMARY KEY,
    type_name TEXT NOT NULL,
    applies INTEGER NOT NULL,
    exact INTEGER NOT NULL
) STRICT;
