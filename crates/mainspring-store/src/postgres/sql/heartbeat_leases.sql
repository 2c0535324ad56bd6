-- All leases of workers, locked in one order. Parameters: ids. Answers what settle_hold.sql does.
SELECT lease.id, lease.queue, lease.lane, lease.ready_at, NULL::bigint, lease.attempts, lease.failures, lease.crashes,
       lease.marks, lease.fence, lease.worker, lease.claimed_at, lease.started_at, lease.timeout_at, lease.taken_fence,
       lease.taken_cause, lease.cancel_asked,
       notes.checkpoint, notes.error_message, notes.error_kind, notes.error_detail,
       job.priority, job.deadline, job.expires_at
FROM leases lease
JOIN jobs job ON job.id = lease.id
LEFT JOIN notes ON notes.id = CASE WHEN lease.marks & 1 <> 0 THEN lease.id END
WHERE lease.worker = ANY($1::uuid[]) AND lease.taken_cause IS NULL
ORDER BY lease.id FOR UPDATE OF lease
