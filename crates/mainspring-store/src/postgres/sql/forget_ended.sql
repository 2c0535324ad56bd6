-- Forgets how jobs ended. Parameters: ids; how many there must be.
WITH gone AS (DELETE FROM ended WHERE id = ANY ($1) RETURNING 1)
SELECT must_be($2, count(*)) FROM gone
