-- Forgets jobs. Parameters: ids.
DELETE FROM jobs WHERE id = ANY ($1)
