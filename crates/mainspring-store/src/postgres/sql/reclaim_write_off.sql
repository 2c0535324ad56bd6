-- Forgets workers that hold nothing any more. Parameters: silent workers (locked). Answers them, by id.
WITH gone AS (
    DELETE FROM workers WHERE id = ANY($1::uuid[])
        AND NOT EXISTS (SELECT FROM leases WHERE leases.worker = workers.id AND leases.taken_cause IS NULL)
    RETURNING id
)
SELECT id FROM gone ORDER BY id
