-- A request that looks at AWS before its operation is accepted passes on what it has seen: sealed, and erased with the first
-- step. Servers of earlier versions ignore it.

ALTER TABLE operations ADD COLUMN look BLOB;
