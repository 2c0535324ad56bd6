-- Forgets ledger rows that are past their retention and lie where rows are forgotten one by one, oldest first. Parameters:
-- before, limit. By their places on disk, which a lock does not change.
DELETE FROM ledger_default WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ledger_default
    WHERE at < $1
    ORDER BY at, tenant, schedule, occurrence, version, index
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))
