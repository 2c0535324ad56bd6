-- Queues of tenants that offer something. Parameters: tenants. Answers tenant, name, in order.
SELECT queue.tenant, queue.name FROM queues queue
WHERE queue.tenant = ANY($1::text[] COLLATE "C") AND EXISTS (SELECT FROM ready WHERE ready.queue = queue.id)
ORDER BY queue.tenant, queue.name
