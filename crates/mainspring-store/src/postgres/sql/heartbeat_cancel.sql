-- Leases that somebody asked to stop. Parameters: workers. Answers worker, job, fence, by job.
SELECT worker, id, fence FROM leases
WHERE worker = ANY($1::uuid[]) AND taken_cause IS NULL AND cancel_asked IS NOT NULL ORDER BY id
