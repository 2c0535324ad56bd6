-- Changes the settings of a queue. Parameters: tenant, name; paused, point_ms (NULL leaves it); max_depth and whether it is
-- set, in which case NULL takes the bound away.
UPDATE queues SET
    paused = coalesce($3, paused),
    point_ms = coalesce($4, point_ms),
    max_depth = CASE WHEN $6 THEN $5 ELSE max_depth END
WHERE tenant = $1 AND name = $2
