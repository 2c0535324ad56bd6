-- Takes leases back under new fences, in order of ids; one that somebody else has locked is left to him. Parameters: ids, causes,
-- hold_until, now, silent workers. Answers the job, queue, the lease, and what attempts left behind.
WITH locked AS MATERIALIZED (
    SELECT lease.*, lost.cause FROM unnest($1::uuid[], $2::smallint[]) AS lost (id, cause)
    CROSS JOIN LATERAL (SELECT * FROM leases WHERE leases.id = lost.id FOR UPDATE SKIP LOCKED) lease
    -- Between finding and locking it may have been settled and claimed again, or taken back by another node.
    WHERE lease.timeout_at <= $4::bigint
        OR lease.taken_cause IS NULL AND (lease.worker = ANY($5::uuid[])
            OR NOT EXISTS (SELECT FROM workers WHERE workers.id = lease.worker))
    ORDER BY lease.id
), fenced AS MATERIALIZED (
    SELECT nextval('fences') AS new_fence, locked.* FROM locked
), taken AS (
    UPDATE leases SET fence = fenced.new_fence, timeout_at = $3::bigint, taken_cause = fenced.cause,
        taken_fence = COALESCE(fenced.taken_fence, fenced.fence)
    FROM fenced WHERE leases.id = fenced.id AND leases.id = ANY($1::uuid[])
)
SELECT job.id, job.priority, job.weight, job.submitted_at, job.run_at, job.max_attempts, job.max_crashes, job.deadline,
       job.expires_at, job.timeout_ms, job.workflow, job.kind, job.schedule, job.concurrency_key, job.rate_key, job.data,
       job.extras::text,
       fenced.queue, fenced.new_fence, fenced.worker, fenced.claimed_at, fenced.started_at, fenced.cancel_asked,
       fenced.attempts, fenced.failures, fenced.crashes, fenced.cause,
       notes.checkpoint, notes.error_message, notes.error_kind, notes.error_detail
FROM fenced JOIN jobs job ON job.id = fenced.id
LEFT JOIN notes ON notes.id = CASE WHEN fenced.marks & 1 <> 0 THEN fenced.id END
ORDER BY fenced.id
