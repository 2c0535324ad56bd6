-- Takes a few jobs in that are ready at once, if there are no limits and none of their queues is bounded. Parameters: the columns of
-- submit_jobs.sql; lanes, instants, expiries and marks, by job; the queues, and how many jobs each takes. Answers whether it did. One
-- of these ids that is there already is a unique_violation.
WITH free AS MATERIALIZED (
    SELECT (SELECT limits_version = 0 FROM charter)
        AND NOT EXISTS (SELECT FROM queues WHERE id = ANY ($23::int[]) AND max_depth IS NOT NULL) AS free
), taken AS (
    INSERT INTO jobs (id, queue, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at, timeout_ms,
                      workflow, kind, schedule, concurrency_key, rate_key, data, extras)
    SELECT * FROM unnest($1::uuid[], $2::int[], $3::smallint[], $4::int[], $5::bigint[], $6::bigint[], $7::int[], $8::int[],
                         $9::bigint[], $10::bigint[], $11::bigint[], $12::uuid[], $13::text[], $14::text[], $15::text[], $16::text[],
                         $17::text[], $18::jsonb[])
    WHERE (SELECT free FROM free)
), offered AS (
    INSERT INTO ready (id, queue, lane, ready_at, expires_at, marks)
    SELECT * FROM unnest($1::uuid[], $2::int[], $19::smallint[], $20::bigint[], $21::bigint[], $22::smallint[])
    WHERE (SELECT free FROM free)
), counted AS (
    INSERT INTO counts (queue, ready) SELECT * FROM unnest($23::int[], $24::bigint[]) WHERE (SELECT free FROM free)
)
SELECT free FROM free
