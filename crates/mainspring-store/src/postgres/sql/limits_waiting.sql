-- How many jobs of a tenant stand in a lot, counted up to a bound in each queue. Parameters: tenant, lot, bound.
SELECT COALESCE(sum(here.count), 0)::bigint FROM queues queue
CROSS JOIN LATERAL (
    SELECT count(*) FROM (
        SELECT FROM ready WHERE ready.queue = queue.id AND ready.lot = $2::bigint LIMIT $3::bigint
    ) parked
) here
WHERE queue.tenant = $1::text COLLATE "C"
