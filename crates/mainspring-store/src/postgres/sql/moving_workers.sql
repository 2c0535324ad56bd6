-- A worker as it was elsewhere. Parameters: the columns, in this order.
INSERT INTO workers (id, tenant, lease_ms, registered_at, last_seen_at, expires_at, "order", concurrency, pid, name, host, version,
                     queues)
VALUES ($1::uuid, $2::text, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::smallint, $8::bigint, $9::bigint, $10::text,
        $11::text, $12::text, $13::text[])
