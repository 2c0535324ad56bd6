-- The jobs of a bucket that stay, up to one more than a limit. Parameters: first id, first id after it, ended_before,
-- dead_before, limit.
CREATE TEMPORARY TABLE stragglers ON COMMIT DROP AS
SELECT found.id FROM (
    SELECT id FROM waiting WHERE id >= $1 AND id < $2
    UNION ALL
    SELECT id FROM ready WHERE id >= $1 AND id < $2
    UNION ALL
    SELECT id FROM aside WHERE id >= $1 AND id < $2
    UNION ALL
    SELECT id FROM leases WHERE id >= $1 AND id < $2
    UNION ALL
    SELECT id FROM ended_{bucket} WHERE ended_at >= CASE WHEN state = 5 THEN $4::bigint ELSE $3::bigint END
) AS found
LIMIT $5::bigint + 1
