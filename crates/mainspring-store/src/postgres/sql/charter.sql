-- What all nodes of this database must agree on. Answers (segments, shard, shards).
SELECT segments, shard, shards FROM charter
