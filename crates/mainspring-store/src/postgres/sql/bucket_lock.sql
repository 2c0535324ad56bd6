-- Only one node tends the buckets at a time; the others need not wait for it.
SELECT pg_try_advisory_xact_lock(7885630535462351475)
