-- New versions, rising. Parameters: how many.
SELECT nextval('versions') FROM generate_series(1, $1::bigint)
