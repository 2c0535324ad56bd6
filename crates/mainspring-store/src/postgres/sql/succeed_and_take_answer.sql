-- After succeed_with.sql and take_with.sql: what either would answer, in columns beside each other, each row with one of the two.
SELECT NULL, NULL, NULL, NULL, NULL, NULL,
       id, priority, weight, submitted_at, run_at, max_attempts, max_crashes, deadline, expires_at, timeout_ms, workflow, kind,
       schedule, concurrency_key, rate_key, data, extras, checkpoint, error_message, error_kind, error_detail,
       fence, queue, attempts, failures, crashes, marks
FROM decided CROSS JOIN checked LEFT JOIN picked ON true WHERE decided.here
UNION ALL
SELECT held.id, held.fence, held.queue, held.marks, held.ready_at, held.id = ANY (awaited),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL
FROM held CROSS JOIN over_checked
