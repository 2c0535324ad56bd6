-- How many waiting jobs fall due when. Parameters: tenant or NULL, from, until, step_ms, jobs_max.
-- Answers (start of the step, how many, whether there are more than jobs_max). Reads one job more than it counts.
SELECT near.ready_at - near.ready_at % $4::bigint, count(*) FILTER (WHERE near.place <= $5::bigint), bool_or(near.place > $5::bigint)
FROM (
    SELECT first.ready_at, row_number() OVER () AS place
    FROM (
        SELECT waiting.ready_at
        FROM waiting
        WHERE waiting.ready_at >= $2 AND waiting.ready_at < $3
            AND ($1::text IS NULL OR EXISTS (SELECT FROM queues WHERE queues.id = waiting.queue AND queues.tenant = $1))
        ORDER BY waiting.ready_at, waiting.id
        LIMIT $5::bigint + 1
    ) AS first
) AS near
GROUP BY 1
ORDER BY 1
