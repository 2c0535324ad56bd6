-- Whoever keeps dead rows from being removed. Parameters: from which age on, in milliseconds. Answers (kind, pid or name, user,
-- application, state, age in milliseconds or NULL, query), the oldest first.
--
-- Sessions of this database, and those of others that hold a snapshot of all. A vacuum holds nothing.
SELECT 'transaction' AS kind, pid::text AS name, usename::text, application_name::text, state::text,
       (EXTRACT(EPOCH FROM clock_timestamp() - xact_start) * 1000)::bigint AS age, query::text
FROM pg_stat_activity
WHERE xact_start < clock_timestamp() - $1::bigint * interval '1 millisecond' AND pid <> pg_backend_pid()
    AND backend_type IN ('client backend', 'walsender') AND query NOT ILIKE 'vacuum%'
    AND (datname = current_database() OR backend_type = 'walsender')
UNION ALL
SELECT 'prepared', gid::text, owner::text, NULL, NULL, (EXTRACT(EPOCH FROM clock_timestamp() - prepared) * 1000)::bigint, NULL
FROM pg_prepared_xacts
WHERE database = current_database() AND prepared < clock_timestamp() - $1::bigint * interval '1 millisecond'
UNION ALL
SELECT 'slot', slot_name::text, NULL, NULL, CASE WHEN active THEN 'active' ELSE 'not in use' END, NULL, NULL
FROM pg_replication_slots
WHERE xmin IS NOT NULL
ORDER BY age DESC NULLS LAST, name
