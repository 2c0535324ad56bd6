-- Hands out the best ready jobs of queues, in order of rank over all of them, if there are no limits and all these workers may have
-- some. Parameters: queues, how many, now, a worker for each, in order; the workers, how many, and their tenant; the number of the lock
-- on rules; whether the caller has seen to the workers, and counts the steps of workflows. What it answers is in another file.
--
-- Lanes are found by leaping from one to the next below it; within a lane the index has the order of rank, and the heads are
-- merged by it. Rows that somebody else holds locked are not waited for. Everything is looked up one by one, whatever the statistics
-- say of tables that are empty one moment and full the next. A look-up by NULL ends before it looks: most have no note.
may AS MATERIALIZED (
    SELECT is_unlimited($8::bigint)
        AND ($9::boolean OR (SELECT count(*) = $6::bigint FROM workers
                             WHERE id = ANY ($5::uuid[]) AND tenant = $7::text AND "order" = 0 AND expires_at > $3::bigint)) AS may
), best AS MATERIALIZED (
    SELECT *, row_number() OVER () AS place
    FROM (
        SELECT job.*
        FROM unnest($1::int[]) AS asked (queue)
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
            SELECT ctid AS at, * FROM ready
            WHERE ready.queue = asked.queue AND ready.lot = 0 AND ready.lane = lanes.lane
                AND (ready.expires_at IS NULL OR ready.expires_at > $3::bigint)
            ORDER BY ready.ready_at, ready.id LIMIT $2::bigint
            FOR UPDATE SKIP LOCKED
        ) job
        WHERE (SELECT may FROM may)
        ORDER BY job.ready_at - job.lane * queue.point_ms, job.id LIMIT $2::bigint
    ) ranked
), decided AS MATERIALIZED (
    SELECT (SELECT may FROM may) AND ($9::boolean OR NOT EXISTS (SELECT FROM best WHERE marks & 2 <> 0)) AS here
), gone AS (
    DELETE FROM ready WHERE ctid = ANY (ARRAY(SELECT at FROM best WHERE (SELECT here FROM decided))) RETURNING 1
), picked AS MATERIALIZED (
    SELECT job.id, job.priority, job.weight, job.submitted_at, job.run_at, job.max_attempts, job.max_crashes, job.deadline,
           job.expires_at, job.timeout_ms, job.workflow, job.kind, job.schedule, job.concurrency_key, job.rate_key, job.data,
           job.extras::text AS extras, note.checkpoint, note.error_message, note.error_kind, note.error_detail,
           nextval('fences') AS fence, best.queue, best.attempts, best.failures, best.crashes, best.place, best.ready_at, best.lane,
           best.marks
    FROM best
    CROSS JOIN LATERAL (SELECT * FROM jobs WHERE jobs.id = best.id OFFSET 0) job
    LEFT JOIN LATERAL (
        SELECT * FROM notes WHERE notes.id = CASE WHEN best.marks & 1 <> 0 THEN best.id END OFFSET 0
    ) note ON true
    WHERE (SELECT here FROM decided)
), lent AS (
    INSERT INTO leases (id, fence, worker, claimed_at, ready_at, timeout_at, queue, lane, attempts, failures, crashes, marks)
    SELECT id, fence, ($4::uuid[])[place], $3::bigint, ready_at,
           -- NULL for a job without a timeout: LEAST would not say so.
           CASE WHEN timeout_ms IS NOT NULL THEN LEAST($3::bigint + timeout_ms, 281474976710655) END,
           queue, lane, attempts + 1, failures, crashes, marks
    FROM picked
), counted AS (
    INSERT INTO counts (queue, ready, running) SELECT queue, -count(*), count(*) FROM picked GROUP BY queue
), checked AS MATERIALIZED (
    -- Each was locked, left where it was, and has a record.
    SELECT must_be((SELECT count(*) FROM best WHERE (SELECT here FROM decided)), (SELECT count(*) FROM gone)),
           must_be((SELECT count(*) FROM gone), (SELECT count(*) FROM picked))
)
