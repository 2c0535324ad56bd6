-- Takes jobs out of aside. Parameters: ids; how many there must be. Whoever lost one of them meanwhile begins anew.
WITH gone AS (DELETE FROM aside WHERE id = ANY($1::uuid[]) RETURNING 1)
SELECT must_be($2::bigint, count(*)) FROM gone
