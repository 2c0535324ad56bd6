-- Which gates jobs pass. Parameters: ids. Answers id, queue, kind, concurrency_key, rate_key, weight.
SELECT job.id, job.queue, job.kind, job.concurrency_key, job.rate_key, job.weight
FROM unnest($1::uuid[]) AS asked (id)
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE jobs.id = asked.id OFFSET 0) job
