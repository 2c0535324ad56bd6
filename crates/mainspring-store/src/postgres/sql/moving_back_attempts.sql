-- Every attempt that is over. Answers the columns that executions.rs reads, then the job, and whether it ended the job.
SELECT attempt, fence, worker, started_at, ended_at, outcome, error_message, error_kind, error_detail, job, false FROM executions
UNION ALL
SELECT attempt, fence, worker, started_at, ended_at, outcome, error_message, error_kind, error_detail, id, true FROM ended
WHERE attempt IS NOT NULL
