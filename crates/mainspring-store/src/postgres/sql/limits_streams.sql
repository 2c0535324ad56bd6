-- The first jobs of every lot and lane of queues, locked; those that somebody else holds locked are not waited for. Parameters:
-- queues, how many of each lane outside of lots, how many of each inside, now. Answers the slip, point_ms of the queue, lot, then
-- kind, concurrency_key, rate_key, weight.
--
-- Lots and lanes are found by leaping: first to the next lane of the same lot, then to the next lot.
SELECT job.id, job.queue, job.lane, job.ready_at, job.expires_at, job.attempts, job.failures, job.crashes, job.marks,
       queue.point_ms, job.lot, record.kind, record.concurrency_key, record.rate_key, record.weight
FROM unnest($1::int[], $2::bigint[]) AS asked (queue, count)
JOIN queues queue ON queue.id = asked.queue AND NOT queue.paused
CROSS JOIN LATERAL (
    WITH RECURSIVE leap AS (
        (SELECT lot, lane FROM ready WHERE ready.queue = asked.queue ORDER BY lot, lane DESC LIMIT 1)
        UNION ALL
        SELECT next.lot, next.lane FROM leap CROSS JOIN LATERAL (
            (SELECT lot, lane FROM ready WHERE ready.queue = asked.queue AND ready.lot = leap.lot AND ready.lane < leap.lane
             ORDER BY lane DESC LIMIT 1)
            UNION ALL
            (SELECT lot, lane FROM ready WHERE ready.queue = asked.queue AND ready.lot > leap.lot
             ORDER BY lot, lane DESC LIMIT 1)
            LIMIT 1
        ) next
    )
    SELECT lot, lane FROM leap
) stream
CROSS JOIN LATERAL (
    SELECT * FROM ready
    WHERE ready.queue = asked.queue AND ready.lot = stream.lot AND ready.lane = stream.lane
        AND (ready.expires_at IS NULL OR ready.expires_at > $4::bigint)
    ORDER BY ready.ready_at, ready.id
    LIMIT CASE WHEN stream.lot = 0 THEN asked.count ELSE LEAST(asked.count, $3::bigint) END
    FOR UPDATE SKIP LOCKED
) job
JOIN jobs record ON record.id = job.id
