-- Counts the jobs of a bucket that go out of their workflows. The callback is a member, and no step.
UPDATE workflows SET
    members = workflows.members - going.members, succeeded = workflows.succeeded - going.succeeded,
    dead = workflows.dead - going.dead, cancelled = workflows.cancelled - going.cancelled
FROM (
    SELECT queues.tenant, jobs.workflow, count(*) AS members,
        count(*) FILTER (WHERE ended.state = 4 AND ended.marks & 4 = 0) AS succeeded,
        count(*) FILTER (WHERE ended.state = 5 AND ended.marks & 4 = 0) AS dead,
        count(*) FILTER (WHERE ended.state = 6 AND ended.marks & 4 = 0) AS cancelled
    FROM jobs_{bucket} AS jobs
    JOIN ended_{bucket} AS ended ON ended.id = jobs.id
    JOIN queues ON queues.id = jobs.queue
    WHERE jobs.workflow IS NOT NULL AND NOT EXISTS (SELECT FROM stragglers WHERE stragglers.id = jobs.id)
    GROUP BY queues.tenant, jobs.workflow
) AS going
WHERE workflows.tenant = going.tenant AND workflows.id = going.workflow
