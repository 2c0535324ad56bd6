-- Forgets the workflows of jobs if none of their members is left. Parameters: ids. The jobs themselves must still be there.
DELETE FROM workflows
USING jobs
JOIN queues ON queues.id = jobs.queue
WHERE jobs.id = ANY ($1) AND workflows.tenant = queues.tenant AND workflows.id = jobs.workflow AND workflows.members = 0
