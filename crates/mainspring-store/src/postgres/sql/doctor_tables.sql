-- How worn the hot tables are. Answers (table, live rows, dead rows).
SELECT relname::text, n_live_tup, n_dead_tup FROM pg_stat_user_tables
WHERE schemaname = 'mainspring' AND relname IN ('ready', 'waiting', 'leases', 'counts', 'releases', 'standings', 'gates')
ORDER BY relname
