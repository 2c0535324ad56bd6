-- As find_jobs.sql, of dead jobs. Parameters: the same.
SELECT dead.id, queues.tenant = $3 AND ($4::text IS NULL OR queues.name = $4) AND ($5::text IS NULL OR jobs.kind = $5)
    AND ($6::text IS NULL OR coalesce(jobs.extras -> 'tags' ? $6, false))
FROM (SELECT id FROM ended WHERE state = 5 AND id < $1 ORDER BY id DESC LIMIT $2) AS dead
JOIN jobs ON jobs.id = dead.id
JOIN queues ON queues.id = jobs.queue
ORDER BY dead.id DESC
