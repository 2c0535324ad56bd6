-- Queues as they were elsewhere. Parameters: tenants, names, paused, point_ms, max_depth. Answers id, tenant, name.
INSERT INTO queues (tenant, name, paused, point_ms, max_depth)
SELECT * FROM unnest($1::text[], $2::text[], $3::boolean[], $4::bigint[], $5::bigint[])
RETURNING id, tenant, name
