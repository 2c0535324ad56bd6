-- Jobs that are Blocked or paused from now on. Parameters: the columns of the slips, states, whether they are paused.
INSERT INTO aside (id, queue, lane, ready_at, expires_at, attempts, failures, crashes, marks, segment, state, paused)
SELECT * FROM unnest($1::uuid[], $2::int[], $3::smallint[], $4::bigint[], $5::bigint[], $6::smallint[], $7::smallint[],
                     $8::smallint[], $9::smallint[], $10::smallint[], $11::smallint[], $12::boolean[])
