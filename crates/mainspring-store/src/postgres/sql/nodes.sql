-- Every node that is known, by id. Answers the columns of nodes, in their order.
SELECT id, address, roles, version, protocol, segments, shards, started_at, skew_ms, willing, seen_at, until
FROM nodes ORDER BY id
