-- After take_with.sql: the job, checkpoint, error, then fence, queue, tally without this attempt, marks; NULLs if there is none to be
-- had; nothing if it is not to be decided here.
SELECT id, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at, timeout_ms, workflow, kind,
       schedule, concurrency_key, rate_key, data, extras, checkpoint, error_message, error_kind, error_detail,
       fence, queue, attempts, failures, crashes, marks
FROM decided CROSS JOIN checked LEFT JOIN picked ON true WHERE decided.here
