-- The names of queues. Parameters: numbers. Answers id, tenant, name.
SELECT id, tenant, name FROM queues WHERE id = ANY($1::int[])
