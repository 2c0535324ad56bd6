-- Takes jobs in. Parameters: how many, then the columns. Whoever was not the first with one of these ids begins anew.
WITH new AS (
    INSERT INTO jobs (id, queue, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at,
                      timeout_ms, workflow, kind, schedule, concurrency_key, rate_key, data, extras)
    SELECT id, queue, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at,
           timeout_ms, workflow, kind, schedule, concurrency_key, rate_key, data, extras::jsonb
    FROM unnest($2::uuid[], $3::int[], $4::smallint[], $5::int[], $6::bigint[], $7::bigint[], $8::int[], $9::int[],
                $10::bigint[], $11::bigint[], $12::bigint[], $13::uuid[], $14::text[], $15::text[], $16::text[],
                $17::text[], $18::text[], $19::text[])
        AS job (id, queue, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at,
                timeout_ms, workflow, kind, schedule, concurrency_key, rate_key, data, extras)
    ON CONFLICT (id) DO NOTHING
    RETURNING 1
)
SELECT must_be($1::bigint, count(*)) FROM new
