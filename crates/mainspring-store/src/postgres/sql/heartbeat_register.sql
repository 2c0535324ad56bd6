-- Writes a worker down, new or again; another tenant's is not touched. Parameters: id, tenant, lease_ms, now, expires_at,
-- concurrency, pid, name, host, version, queues. Answers a row if it was written.
INSERT INTO workers AS known (id, tenant, lease_ms, registered_at, last_seen_at, expires_at, concurrency, pid, name, host,
                              version, queues)
VALUES ($1::uuid, $2::text, $3::bigint, $4::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::text, $9::text,
        $10::text, $11::text[])
ON CONFLICT (id) DO UPDATE SET
    lease_ms = excluded.lease_ms, last_seen_at = excluded.last_seen_at, expires_at = excluded.expires_at,
    concurrency = excluded.concurrency, pid = excluded.pid, name = excluded.name, host = excluded.host,
    version = excluded.version, queues = excluded.queues
WHERE known.tenant = excluded.tenant
RETURNING "order"
