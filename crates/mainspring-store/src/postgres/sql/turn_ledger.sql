-- What became of occurrences. Parameters: the columns, in this order.
INSERT INTO ledger (tenant, schedule, occurrence, version, index, at, row)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::integer[], $6::bigint[], $7::bytea[])
