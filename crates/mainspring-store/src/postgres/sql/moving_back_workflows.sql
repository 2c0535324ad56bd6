-- Every workflow. Answers (tenant, id, submitted_at, callback, whether that waits, members, the eight counts of its steps).
SELECT tenant, id, submitted_at, callback, callback_waits, members, blocked, waiting, ready, paused, running, succeeded, dead,
       cancelled
FROM workflows
