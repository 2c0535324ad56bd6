-- Nobody writes in the name of a seat before this transaction ends. Parameters: key.
SELECT pg_advisory_xact_lock($1)
