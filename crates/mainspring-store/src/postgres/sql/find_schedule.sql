-- As find_jobs.sql, of one schedule's name. Parameters: the same, and the schedule.
SELECT jobs.id, queues.tenant = $3 AND ($4::text IS NULL OR queues.name = $4) AND ($5::text IS NULL OR jobs.kind = $5)
    AND ($6::text IS NULL OR coalesce(jobs.extras -> 'tags' ? $6, false))
FROM jobs
JOIN queues ON queues.id = jobs.queue
WHERE jobs.schedule = $7 AND jobs.id < $1
ORDER BY jobs.id DESC
LIMIT $2
