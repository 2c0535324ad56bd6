-- Forgets idempotency keys that are over, oldest first. Parameters: now, limit. Those that somebody holds wait for the next
-- time. By their places on disk, which a lock does not change.
DELETE FROM keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM keys WHERE until <= $1 ORDER BY until, tenant, key LIMIT $2 FOR UPDATE SKIP LOCKED
))
