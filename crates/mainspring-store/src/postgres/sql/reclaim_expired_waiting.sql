-- Jobs in waiting that did not start in time, the longest overdue first, locked. Parameters: now, how many. Answers the slip, state,
-- whether it is paused, and the last error.
SELECT job.id, job.queue, job.lane, job.ready_at, job.expires_at, job.attempts, job.failures, job.crashes, job.marks,
       1::smallint, false, notes.error_message, notes.error_kind, notes.error_detail
FROM waiting job LEFT JOIN notes ON notes.id = CASE WHEN job.marks & 1 <> 0 THEN job.id END
WHERE job.expires_at <= $1::bigint
ORDER BY job.expires_at, job.id LIMIT $2::bigint FOR UPDATE OF job SKIP LOCKED
