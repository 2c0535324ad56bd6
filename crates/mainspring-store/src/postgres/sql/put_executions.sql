-- Attempts that are over. Parameters: the columns, in this order.
INSERT INTO executions (job, fence, started_at, ended_at, worker, attempt, outcome, error_message, error_kind, error_detail)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::uuid[], $6::smallint[], $7::smallint[],
                     $8::text[], $9::text[], $10::text[])
