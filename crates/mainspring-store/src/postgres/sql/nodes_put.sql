-- What a node says of itself. Parameters: the columns of nodes, in their order.
INSERT INTO nodes (id, address, roles, version, protocol, segments, shards, started_at, skew_ms, willing, seen_at, until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (id) DO UPDATE SET
    address = excluded.address, roles = excluded.roles, version = excluded.version, protocol = excluded.protocol,
    segments = excluded.segments, shards = excluded.shards, started_at = excluded.started_at,
    skew_ms = excluded.skew_ms, willing = excluded.willing, seen_at = excluded.seen_at, until = excluded.until
