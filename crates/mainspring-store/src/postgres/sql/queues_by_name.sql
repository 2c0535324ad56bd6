-- The numbers of queues. Parameters: tenants, names. Answers id, tenant, name of those that there are.
SELECT queue.id, queue.tenant, queue.name
FROM unnest($1::text[], $2::text[]) AS asked (tenant, name)
JOIN queues queue ON queue.tenant = asked.tenant COLLATE "C" AND queue.name = asked.name COLLATE "C"
