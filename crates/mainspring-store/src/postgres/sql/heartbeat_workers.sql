-- Workers that beat, locked in one order. Parameters: ids. Answers id, tenant, lease_ms, registered_at, last_seen_at,
-- expires_at, order.
SELECT id, tenant, lease_ms, registered_at, last_seen_at, expires_at, "order"
FROM workers WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE
