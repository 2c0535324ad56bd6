-- Waits until nobody takes or ends leases, and keeps it so. Parameters: the number of the lock.
SELECT pg_advisory_xact_lock($1::bigint)
