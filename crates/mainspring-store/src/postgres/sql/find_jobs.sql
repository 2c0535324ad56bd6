-- The newest jobs below an id, whoever owns them. Parameters: below, limit, tenant, queue, kind, tag (NULL for any).
-- Answers (id, whether it fits).
SELECT jobs.id, queues.tenant = $3 AND ($4::text IS NULL OR queues.name = $4) AND ($5::text IS NULL OR jobs.kind = $5)
    AND ($6::text IS NULL OR coalesce(jobs.extras -> 'tags' ? $6, false))
FROM jobs
JOIN queues ON queues.id = jobs.queue
WHERE jobs.id < $1
ORDER BY jobs.id DESC
LIMIT $2
