-- Takes jobs out of leases. Parameters: ids; how many there must be. Whoever lost one of them meanwhile begins anew.
WITH gone AS (DELETE FROM leases WHERE id = ANY($1::uuid[]) RETURNING 1)
SELECT must_be($2::bigint, count(*)) FROM gone
