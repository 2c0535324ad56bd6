-- Callbacks that are still Blocked though every step of their workflow has ended, by workflow, locked. Parameters: segments, how
-- many. Answers the slip, whether it is paused, its priority and deadline.
SELECT callback.id, callback.queue, callback.lane, callback.ready_at, callback.expires_at, callback.attempts,
       callback.failures, callback.crashes, callback.marks, callback.paused, job.priority, job.deadline
FROM workflows workflow
JOIN aside callback ON callback.id = workflow.callback AND callback.state = 0 AND callback.segment = ANY($1::smallint[])
JOIN jobs job ON job.id = callback.id
WHERE workflow.callback_waits
    AND workflow.blocked + workflow.waiting + workflow.ready + workflow.paused + workflow.running = 0
ORDER BY workflow.tenant, workflow.id LIMIT $2::bigint
FOR UPDATE OF callback SKIP LOCKED
