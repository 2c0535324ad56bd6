-- Jobs of a bucket that are past their retention; held. Parameters: ended_before, dead_before, limit. Answers (id, queue, marks,
-- state).
SELECT id, queue, marks, state FROM ended_{bucket}
WHERE ended_at < CASE WHEN state = 5 THEN $2::bigint ELSE $1::bigint END
LIMIT $3
FOR UPDATE
