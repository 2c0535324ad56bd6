-- Settings that promises rest on, as they are for us. Answers (name, value).
SELECT name, setting FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum')
ORDER BY name
