-- Where jobs are. Parameters: ids. Answers id, tenant, state, ready_at of those that there are.
--
-- One statement, one snapshot: in it, every job is in exactly one table.
SELECT job.id, queue.tenant,
    COALESCE(ended.state, aside.state,
             CASE WHEN waiting.id IS NOT NULL THEN 1 WHEN ready.id IS NOT NULL THEN 2 ELSE 3 END)::smallint,
    COALESCE(ended.ready_at, aside.ready_at, waiting.ready_at, ready.ready_at, leases.ready_at)
FROM unnest($1::uuid[]) AS asked (id)
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE jobs.id = asked.id OFFSET 0) job
JOIN queues queue ON queue.id = job.queue
LEFT JOIN ended ON ended.id = job.id
LEFT JOIN aside ON aside.id = job.id
LEFT JOIN waiting ON waiting.id = job.id
LEFT JOIN ready ON ready.id = job.id
LEFT JOIN leases ON leases.id = job.id
