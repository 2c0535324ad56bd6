-- Forgets the attempts of jobs. Parameters: ids.
DELETE FROM executions WHERE job = ANY ($1)
