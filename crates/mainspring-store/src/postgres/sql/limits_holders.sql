-- All leases of a tenant, by job, with what they pass; also those that were taken back. Parameters: tenant. Answers id, queue,
-- kind, concurrency_key, rate_key, weight.
SELECT lease.id, lease.queue, job.kind, job.concurrency_key, job.rate_key, job.weight
FROM leases lease
JOIN queues queue ON queue.id = lease.queue AND queue.tenant = $1::text COLLATE "C"
JOIN jobs job ON job.id = lease.id
ORDER BY lease.id
