-- Forgets what attempts left behind. Parameters: ids.
DELETE FROM notes WHERE id = ANY($1::uuid[])
