-- Connections of clients to the whole server, and how many there may be. Answers (in use, at most).
SELECT count(*), current_setting('max_connections')::bigint FROM pg_stat_activity WHERE backend_type = 'client backend'
