-- How many unfinished jobs nobody holds. Parameters: queues. Answers queue, depth.
SELECT queue, sum(blocked + waiting + ready + paused)::bigint FROM counts WHERE queue = ANY($1::int[]) GROUP BY queue
