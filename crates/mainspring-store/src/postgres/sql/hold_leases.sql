-- Holds jobs that are in leases until the transaction ends, in one order. Parameters: ids. Answers those that are there.
SELECT id FROM leases WHERE id = ANY ($1) ORDER BY id FOR UPDATE
