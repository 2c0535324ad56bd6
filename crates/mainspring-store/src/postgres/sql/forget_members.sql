-- Jobs that their workflows are to forget. Parameters: ids. The jobs themselves must still be there.
UPDATE workflows SET members = workflows.members - leaving.members
FROM (
    SELECT queues.tenant, jobs.workflow, count(*) AS members
    FROM jobs
    JOIN queues ON queues.id = jobs.queue
    WHERE jobs.id = ANY ($1) AND jobs.workflow IS NOT NULL
    GROUP BY queues.tenant, jobs.workflow
) AS leaving
WHERE workflows.tenant = leaving.tenant AND workflows.id = leaving.workflow
