-- Queues of all tenants by name, those with something on offer. Parameters: names. Answers id, tenant, name.
SELECT queue.id, queue.tenant, queue.name FROM unnest($1::text[]) AS asked (name)
JOIN queues queue ON queue.name = asked.name COLLATE "C"
WHERE EXISTS (SELECT FROM ready WHERE ready.queue = queue.id)
