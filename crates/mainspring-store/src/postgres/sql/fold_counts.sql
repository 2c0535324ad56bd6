-- Folds rows of counts together: as many as there are of each queue become one. Parameters: how many rows at most. What another
-- node is folding is left to it.
WITH gone AS (
    DELETE FROM counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM counts ORDER BY queue LIMIT $1::bigint FOR UPDATE SKIP LOCKED
    ))
    RETURNING *
)
INSERT INTO counts (queue, blocked, waiting, ready, paused, running, succeeded, dead, cancelled)
SELECT queue, sum(blocked), sum(waiting), sum(ready), sum(paused), sum(running), sum(succeeded), sum(dead), sum(cancelled)
FROM gone GROUP BY queue
