-- Holds jobs that are in waiting until the transaction ends, in one order. Parameters: ids. Answers those that are there.
SELECT id FROM waiting WHERE id = ANY ($1) ORDER BY id FOR UPDATE
