-- Who asks. Parameters: ids. Answers id, tenant, lease_ms, expires_at, order.
SELECT id, tenant, lease_ms, expires_at, "order" FROM workers WHERE id = ANY($1::uuid[])
