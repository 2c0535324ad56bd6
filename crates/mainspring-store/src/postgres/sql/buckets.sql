-- The buckets of a table, oldest first. Parameters: table. Answers (name of the partition).
SELECT part.relname::text
FROM pg_inherits
JOIN pg_class AS part ON part.oid = pg_inherits.inhrelid
WHERE pg_inherits.inhparent = $1::text::regclass AND part.relname <> $1::text || '_default'
ORDER BY part.relname
