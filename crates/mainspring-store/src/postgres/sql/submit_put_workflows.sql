-- Writes members into their workflows, which are made by their first. Parameters: now, then for each workflow: tenant, id,
-- callback (or NULL), whether that waits for steps, members, and steps by place.
INSERT INTO workflows AS known (submitted_at, tenant, id, callback, callback_waits, members, blocked, waiting, ready)
SELECT $1::bigint, tenant, id, callback, callback_waits, members, blocked, waiting, ready
FROM unnest($2::text[], $3::uuid[], $4::uuid[], $5::boolean[], $6::int[], $7::int[], $8::int[], $9::int[])
    AS new (tenant, id, callback, callback_waits, members, blocked, waiting, ready)
ON CONFLICT (tenant, id) DO UPDATE SET
    callback = COALESCE(excluded.callback, known.callback),
    callback_waits = CASE WHEN excluded.callback IS NULL THEN known.callback_waits ELSE excluded.callback_waits END,
    members = known.members + excluded.members, blocked = known.blocked + excluded.blocked,
    waiting = known.waiting + excluded.waiting, ready = known.ready + excluded.ready
