-- How many jobs go before a ready one, counted up to a limit; no row unless it is Ready and not paused.
-- Parameters: tenant, id, limit. Walks from one lane to the next, and within a lane reads only what goes before.
WITH RECURSIVE this AS (
    SELECT ready.queue, ready.id, queues.point_ms, ready.ready_at - ready.lane * queues.point_ms AS score
    FROM ready
    JOIN queues ON queues.id = ready.queue AND queues.tenant = $1
    WHERE ready.id = $2
), lanes AS (
    SELECT head.lot, head.lane
    FROM this
    CROSS JOIN LATERAL (
        SELECT lot, lane FROM ready WHERE queue = this.queue ORDER BY lot, lane DESC LIMIT 1
    ) AS head
    UNION ALL
    SELECT next.lot, next.lane
    FROM lanes
    CROSS JOIN this
    CROSS JOIN LATERAL (
        (SELECT lot, lane FROM ready
         WHERE queue = this.queue AND lot = lanes.lot AND lane < lanes.lane ORDER BY lane DESC LIMIT 1)
        UNION ALL
        (SELECT lot, lane FROM ready
         WHERE queue = this.queue AND lot > lanes.lot ORDER BY lot, lane DESC LIMIT 1)
        LIMIT 1
    ) AS next
)
SELECT count(*) FROM this
-- A lone row for the job itself says that it is ready.
CROSS JOIN LATERAL (
    SELECT true
    UNION ALL
    (SELECT true FROM lanes
     CROSS JOIN LATERAL (
        SELECT FROM ready
        WHERE queue = this.queue AND lot = lanes.lot AND lane = lanes.lane
            AND (ready_at, id) < (this.score + lanes.lane * this.point_ms, this.id)
        LIMIT $3
     ) AS before
     LIMIT $3)
) AS counted
GROUP BY this.id
