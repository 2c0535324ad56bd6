-- Every queue, by tenant and name, with its counts and since when its oldest ready job has been due.
-- Parameters: tenant, or NULL for all. The heads of all lanes are looked at, one lane after the other.
SELECT queues.tenant, queues.name, queues.paused, queues.point_ms, queues.max_depth,
    counted.blocked, counted.waiting, counted.ready, counted.paused, counted.running, counted.succeeded, counted.dead,
    counted.cancelled, oldest.ready_at
FROM queues
CROSS JOIN LATERAL (
    SELECT coalesce(sum(blocked), 0)::bigint AS blocked, coalesce(sum(waiting), 0)::bigint AS waiting,
        coalesce(sum(ready), 0)::bigint AS ready, coalesce(sum(paused), 0)::bigint AS paused,
        coalesce(sum(running), 0)::bigint AS running, coalesce(sum(succeeded), 0)::bigint AS succeeded,
        coalesce(sum(dead), 0)::bigint AS dead, coalesce(sum(cancelled), 0)::bigint AS cancelled
    FROM counts
    WHERE counts.queue = queues.id
) AS counted
CROSS JOIN LATERAL (
    WITH RECURSIVE heads AS (
        (SELECT lot, lane, ready_at FROM ready WHERE queue = queues.id ORDER BY lot, lane DESC, ready_at LIMIT 1)
        UNION ALL
        SELECT next.lot, next.lane, next.ready_at
        FROM heads
        CROSS JOIN LATERAL (
            (SELECT lot, lane, ready_at FROM ready
             WHERE queue = queues.id AND lot = heads.lot AND lane < heads.lane ORDER BY lane DESC, ready_at LIMIT 1)
            UNION ALL
            (SELECT lot, lane, ready_at FROM ready
             WHERE queue = queues.id AND lot > heads.lot ORDER BY lot, lane DESC, ready_at LIMIT 1)
            LIMIT 1
        ) AS next
    )
    SELECT min(ready_at) AS ready_at FROM heads
) AS oldest
WHERE $1::text IS NULL OR queues.tenant = $1
ORDER BY queues.tenant, queues.name
