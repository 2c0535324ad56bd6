-- Whether more jobs are due. Parameters: segments, now.
SELECT EXISTS (SELECT FROM waiting WHERE ready_at <= $2::bigint AND segment = ANY($1::smallint[]))
