-- Whether nothing lies beside the buckets of jobs.
SELECT NOT EXISTS (SELECT FROM jobs_default) AND NOT EXISTS (SELECT FROM ended_default) AND NOT EXISTS (SELECT FROM executions_default)
