-- Takes many jobs in: the columns of submit_jobs.sql. One of these ids that is there already is a unique_violation; the
-- transaction begins anew then and sees it.
COPY jobs (id, queue, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at, timeout_ms, workflow,
           kind, schedule, concurrency_key, rate_key, data, extras) FROM STDIN (FORMAT binary)
