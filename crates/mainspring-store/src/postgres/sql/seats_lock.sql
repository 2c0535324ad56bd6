-- No seat changes hands before this transaction ends. Parameters: key.
SELECT pg_advisory_xact_lock_shared($1)
