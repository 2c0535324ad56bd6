-- Holds jobs that have ended until the transaction ends, in one order. Parameters: ids. Answers those that are there.
SELECT id FROM ended WHERE id = ANY ($1) ORDER BY id FOR UPDATE
