-- Every worker, by id, with how much it holds: what was taken back from it is not its own any more.
SELECT id, tenant, lease_ms, registered_at, last_seen_at, expires_at, "order", concurrency, pid, name, host, version, queues,
    (SELECT count(*) FROM leases WHERE leases.worker = workers.id AND leases.taken_fence IS NULL)
FROM workers
ORDER BY id
