-- Takes a few jobs in. Parameters: the columns. One of these ids that is there already is a unique_violation; the transaction begins
-- anew then and sees it.
INSERT INTO jobs (id, queue, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at, timeout_ms,
                  workflow, kind, schedule, concurrency_key, rate_key, data, extras)
SELECT * FROM unnest($1::uuid[], $2::int[], $3::smallint[], $4::int[], $5::bigint[], $6::bigint[], $7::int[], $8::int[],
                     $9::bigint[], $10::bigint[], $11::bigint[], $12::uuid[], $13::text[], $14::text[], $15::text[], $16::text[],
                     $17::text[], $18::jsonb[])
