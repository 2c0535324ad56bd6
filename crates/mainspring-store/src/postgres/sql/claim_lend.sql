-- Hands out jobs that were taken out of ready. Parameters: ids, workers, ready_at, queues, lanes, tallies without this attempt,
-- marks, in the order of fences; now. Answers the fences, in that order.
INSERT INTO leases (id, fence, worker, claimed_at, ready_at, timeout_at, queue, lane, attempts, failures, crashes, marks)
SELECT pick.id, nextval('fences'), pick.worker, $10::bigint, pick.ready_at,
       -- NULL for a job without a timeout: LEAST would not say so.
       (SELECT CASE WHEN timeout_ms IS NOT NULL THEN LEAST($10::bigint + timeout_ms, 281474976710655) END
        FROM jobs WHERE jobs.id = pick.id),
       pick.queue, pick.lane, pick.attempts + 1, pick.failures, pick.crashes, pick.marks
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::smallint[], $6::smallint[], $7::smallint[], $8::smallint[],
            $9::smallint[])
    AS pick (id, worker, ready_at, queue, lane, attempts, failures, crashes, marks)
RETURNING fence
