-- Makes queues, in one order, so that two who make the same ones do not wait for each other in a circle. Parameters: tenants,
-- names, sorted. Answers id, tenant, name of all of them, whoever made them.
INSERT INTO queues (tenant, name)
SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (tenant, name) DO UPDATE SET name = excluded.name
RETURNING id, tenant, name
