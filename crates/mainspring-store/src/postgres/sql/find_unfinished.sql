-- As find_jobs.sql, of jobs that have not ended. Parameters: the same, and which tables to look into: waiting, ready,
-- leases, aside.
SELECT live.id, queues.tenant = $3 AND ($4::text IS NULL OR queues.name = $4) AND ($5::text IS NULL OR jobs.kind = $5)
    AND ($6::text IS NULL OR coalesce(jobs.extras -> 'tags' ? $6, false))
FROM (
    SELECT found.id FROM (
        (SELECT id FROM waiting WHERE $7 AND id < $1 ORDER BY id DESC LIMIT $2)
        UNION ALL
        (SELECT id FROM ready WHERE $8 AND id < $1 ORDER BY id DESC LIMIT $2)
        UNION ALL
        (SELECT id FROM leases WHERE $9 AND id < $1 ORDER BY id DESC LIMIT $2)
        UNION ALL
        (SELECT id FROM aside WHERE $10 AND id < $1 ORDER BY id DESC LIMIT $2)
    ) AS found
    ORDER BY found.id DESC
    LIMIT $2
) AS live
JOIN jobs ON jobs.id = live.id
JOIN queues ON queues.id = jobs.queue
ORDER BY live.id DESC
