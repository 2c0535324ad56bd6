-- The attempts of a job that are over, oldest first: the last one of a job that ended is written with its end.
-- Parameters: tenant, id. Answers (attempt, fence, worker, started_at, ended_at, outcome, error message, kind, detail).
SELECT tries.attempt, tries.fence, tries.worker, tries.started_at, tries.ended_at, tries.outcome,
    tries.error_message, tries.error_kind, tries.error_detail
FROM jobs
JOIN queues ON queues.id = jobs.queue AND queues.tenant = $1
CROSS JOIN LATERAL (
    SELECT attempt, fence, worker, started_at, ended_at, outcome, error_message, error_kind, error_detail
    FROM executions
    WHERE executions.job = jobs.id
    UNION ALL
    SELECT attempt, fence, worker, started_at, ended_at, outcome, error_message, error_kind, error_detail
    FROM ended
    WHERE ended.id = jobs.id AND attempt IS NOT NULL
) AS tries
WHERE jobs.id = $2
ORDER BY tries.fence
