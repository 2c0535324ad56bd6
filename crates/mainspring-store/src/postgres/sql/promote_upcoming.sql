-- The next distinct instants at which a job or a schedule falls due. Parameters: segments, after, until, how many.
--
-- Leaps from one instant to the next: a million jobs of one instant are one step.
WITH RECURSIVE leap AS (
    SELECT LEAST(
        (SELECT ready_at FROM waiting WHERE ready_at > $2::bigint AND ready_at <= $3::bigint AND segment = ANY($1::smallint[])
         ORDER BY ready_at, id LIMIT 1),
        (SELECT wake_at FROM standings WHERE wake_at > $2::bigint AND wake_at <= $3::bigint AND segment = ANY($1::smallint[])
         ORDER BY wake_at LIMIT 1)) AS at
    UNION ALL
    SELECT LEAST(
        (SELECT ready_at FROM waiting WHERE ready_at > leap.at AND ready_at <= $3::bigint AND segment = ANY($1::smallint[])
         ORDER BY ready_at, id LIMIT 1),
        (SELECT wake_at FROM standings WHERE wake_at > leap.at AND wake_at <= $3::bigint AND segment = ANY($1::smallint[])
         ORDER BY wake_at LIMIT 1))
    FROM leap WHERE leap.at IS NOT NULL
)
SELECT at FROM leap WHERE at IS NOT NULL LIMIT $4::bigint
