-- What changed in the counts of queues. Parameters: queues, and for each the differences in the order of the columns.
INSERT INTO counts (queue, blocked, waiting, ready, paused, running, succeeded, dead, cancelled)
SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                     $8::bigint[], $9::bigint[])
