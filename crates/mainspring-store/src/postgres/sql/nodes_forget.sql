-- Forgets the nodes that were not seen since. Parameters: before.
DELETE FROM nodes WHERE seen_at < $1
