-- Holds jobs that are in ready until the transaction ends, in one order. Parameters: ids. Answers those that are there.
SELECT id FROM ready WHERE id = ANY ($1) ORDER BY id FOR UPDATE
