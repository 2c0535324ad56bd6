-- What all nodes of this database must agree on, and whether anything hangs on it: a queue, a schedule, a rule or a node.
-- Answers (segments, shard, shards, cluster, in use, which database of which server this is).
SELECT segments, shard, shards, cluster,
    EXISTS (SELECT FROM queues) OR EXISTS (SELECT FROM standings) OR EXISTS (SELECT FROM rules) OR EXISTS (SELECT FROM nodes),
    concat((SELECT oid FROM pg_database WHERE datname = current_database()), ' ', extract(epoch FROM pg_postmaster_start_time()))
FROM charter
