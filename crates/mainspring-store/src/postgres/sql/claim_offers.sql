-- The best ready jobs of queues, at most so many of each lane, locked; those that somebody else holds locked are not waited
-- for. Parameters: queues, how many of each, now. Answers the slip, then point_ms of the queue.
--
-- Lanes are found by leaping from one to the next below it; within a lane the index has the order of rank.
SELECT job.id, asked.queue, job.lane, job.ready_at, job.expires_at, job.attempts, job.failures, job.crashes, job.marks,
       queue.point_ms
FROM unnest($1::int[], $2::bigint[]) AS asked (queue, count)
JOIN queues queue ON queue.id = asked.queue AND NOT queue.paused
CROSS JOIN LATERAL (
    WITH RECURSIVE leap AS (
        (SELECT lane FROM ready WHERE ready.queue = asked.queue AND lot = 0 ORDER BY lane DESC LIMIT 1)
        UNION ALL
        SELECT (SELECT ready.lane FROM ready WHERE ready.queue = asked.queue AND lot = 0 AND ready.lane < leap.lane
                ORDER BY ready.lane DESC LIMIT 1)
        FROM leap WHERE leap.lane IS NOT NULL
    )
    SELECT lane FROM leap WHERE lane IS NOT NULL
) lanes
CROSS JOIN LATERAL (
    SELECT * FROM ready
    WHERE ready.queue = asked.queue AND ready.lot = 0 AND ready.lane = lanes.lane
        AND (ready.expires_at IS NULL OR ready.expires_at > $3::bigint)
    ORDER BY ready.ready_at, ready.id LIMIT asked.count
    FOR UPDATE SKIP LOCKED
) job
