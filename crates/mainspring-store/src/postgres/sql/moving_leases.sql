-- Leases as they were held elsewhere. Parameters: the columns, in this order.
INSERT INTO leases (id, fence, worker, claimed_at, ready_at, timeout_at, started_at, taken_fence, queue, lane, attempts, failures,
                    crashes, marks, taken_cause, cancel_asked)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
                     $9::int[], $10::smallint[], $11::smallint[], $12::smallint[], $13::smallint[], $14::smallint[],
                     $15::smallint[], $16::text[])
