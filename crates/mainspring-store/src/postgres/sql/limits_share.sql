-- Waits until nobody changes rules, and keeps it so. Parameters: the number of the lock.
SELECT pg_advisory_xact_lock_shared($1::bigint)
