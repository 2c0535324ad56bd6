-- The clock of the server, in milliseconds: nodes measure theirs against it, and nothing is decided by it.
SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
