-- Callbacks that no longer wait for the steps of their workflow. Parameters: ids.
UPDATE workflows SET callback_waits = false
FROM jobs job JOIN queues queue ON queue.id = job.queue
WHERE job.id = ANY($1::uuid[]) AND workflows.tenant = queue.tenant AND workflows.id = job.workflow AND workflows.callback = job.id
