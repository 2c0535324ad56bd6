-- Workflows as they were elsewhere. Parameters: the columns, in this order.
INSERT INTO workflows (tenant, id, submitted_at, callback, callback_waits, members, blocked, waiting, ready, paused, running,
                       succeeded, dead, cancelled)
SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::uuid[], $5::boolean[], $6::int[], $7::int[], $8::int[], $9::int[],
                     $10::int[], $11::int[], $12::int[], $13::int[], $14::int[])
