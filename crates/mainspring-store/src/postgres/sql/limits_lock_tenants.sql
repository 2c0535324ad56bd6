-- Waits for our turn at the gates of tenants, in one order. Parameters: the first half of the locks, tenants.
SELECT pg_advisory_xact_lock($1::int, key) FROM (
    SELECT DISTINCT hashtext(tenant) AS key FROM unnest($2::text[]) AS tenant ORDER BY key
) tenants
