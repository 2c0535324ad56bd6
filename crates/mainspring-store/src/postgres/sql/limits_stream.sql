-- The next jobs of one lot and lane, locked. Parameters: queue, lot, lane, after ready_at and id, how many, now. Answers what
-- limits_streams.sql does.
SELECT job.id, job.queue, job.lane, job.ready_at, job.expires_at, job.attempts, job.failures, job.crashes, job.marks,
       queue.point_ms, job.lot, record.kind, record.concurrency_key, record.rate_key, record.weight
FROM (
    SELECT * FROM ready
    WHERE ready.queue = $1::int AND ready.lot = $2::bigint AND ready.lane = $3::smallint
        AND (ready.ready_at, ready.id) > ($4::bigint, $5::uuid)
        AND (ready.expires_at IS NULL OR ready.expires_at > $7::bigint)
    ORDER BY ready.ready_at, ready.id LIMIT $6::bigint
    FOR UPDATE SKIP LOCKED
) job
JOIN queues queue ON queue.id = job.queue
JOIN jobs record ON record.id = job.id
