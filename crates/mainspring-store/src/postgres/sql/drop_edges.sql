-- Forgets what children waited for. Parameters: children.
DELETE FROM edges WHERE child = ANY($1::uuid[])
