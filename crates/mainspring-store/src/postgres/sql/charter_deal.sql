-- Writes down which of how many databases this is, unless it is that already or something hangs on what it is.
-- Parameters: shard, shards, cluster (NULL for one of its own).
UPDATE charter SET shard = $1, shards = $2, cluster = coalesce($3, gen_random_uuid())
WHERE (shard, shards) IS DISTINCT FROM ($1, $2) OR cluster IS DISTINCT FROM coalesce($3, cluster)
