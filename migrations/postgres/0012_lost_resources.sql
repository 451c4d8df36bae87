-- A reference whose AWS resource is proven not to exist comes to stand for a new one. The event of that put names the one
-- that was lost.

ALTER TABLE events ADD COLUMN lost TEXT COLLATE "C";
