-- Dead jobs that are past their retention, as prune_ended.sql. Parameters: before, limit. Answers (id, queue, marks, state).
SELECT id, queue, marks, state FROM ended_default
WHERE state = 5 AND ended_at < $1
ORDER BY ended_at, id
LIMIT $2
FOR UPDATE SKIP LOCKED
