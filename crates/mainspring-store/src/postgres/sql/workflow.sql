-- A workflow as a whole. Parameters: tenant, id. Answers (submitted_at, callback, the eight counts of its steps).
SELECT submitted_at, callback, blocked, waiting, ready, paused, running, succeeded, dead, cancelled
FROM workflows
WHERE tenant = $1 AND id = $2
