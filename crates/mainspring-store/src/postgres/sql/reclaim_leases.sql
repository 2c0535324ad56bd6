-- Leases that ran out: their worker is silent or unknown, or their own time has passed. Parameters: silent workers (locked), now,
-- how many. Answers id, why (1 Timeout, 2 Crash), by id. Not locked yet.
--
-- Who holds leases is found by leaping from worker to worker: there are far fewer of them.
WITH RECURSIVE holders AS (
    (SELECT worker FROM leases ORDER BY worker LIMIT 1)
    UNION ALL
    SELECT (SELECT leases.worker FROM leases WHERE leases.worker > holders.worker ORDER BY leases.worker LIMIT 1)
    FROM holders WHERE holders.worker IS NOT NULL
), crashed AS (
    SELECT worker FROM holders
    WHERE worker = ANY($1::uuid[])
        OR worker IS NOT NULL AND NOT EXISTS (SELECT FROM workers WHERE workers.id = holders.worker)
)
SELECT id, max(cause)::smallint FROM (
    (SELECT leases.id, 2 AS cause FROM crashed JOIN leases ON leases.worker = crashed.worker
     WHERE leases.taken_cause IS NULL ORDER BY leases.id LIMIT $3::bigint)
    UNION ALL
    (SELECT leases.id, COALESCE(leases.taken_cause, 1) FROM leases WHERE leases.timeout_at <= $2::bigint
     ORDER BY leases.id LIMIT $3::bigint)
) lost
GROUP BY id ORDER BY id LIMIT $3::bigint
