-- Jobs that are on offer from now on. Parameters: the columns of the slips.
INSERT INTO ready (id, queue, lane, ready_at, expires_at, attempts, failures, crashes, marks, lot)
SELECT * FROM unnest($1::uuid[], $2::int[], $3::smallint[], $4::bigint[], $5::bigint[], $6::smallint[], $7::smallint[],
                     $8::smallint[], $9::smallint[], $10::bigint[])
