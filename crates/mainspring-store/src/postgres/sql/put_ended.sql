-- Jobs that are over. Parameters: the columns, in this order.
INSERT INTO ended (id, ended_at, ready_at, queue, state, attempts, failures, crashes, marks, outcome, attempt, fence,
                   started_at, worker, result, reason, error_message, error_kind, error_detail, checkpoint)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::int[], $5::smallint[], $6::smallint[], $7::smallint[],
                     $8::smallint[], $9::smallint[], $10::smallint[], $11::smallint[], $12::bigint[], $13::bigint[],
                     $14::uuid[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[])
