-- Sequences go on above what was given out elsewhere. Parameters: the last fence, the last version; zero for none.
SELECT CASE WHEN $1::bigint > 0 THEN setval('fences', $1::bigint) END,
       CASE WHEN $2::bigint > 0 THEN setval('versions', $2::bigint) END
