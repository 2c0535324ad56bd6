-- Leases that still hold, locked in one order. Parameters: jobs, fences, whether each goes back to where it is not held; by job.
-- Answers the lease, what attempts left behind, and of those that go back: priority, deadline, expires_at.
--
-- Looked up one by one, whatever the statistics say of tables that are empty one moment and full the next. A look-up by NULL
-- ends before it looks: most have no note, and no use for their record.
SELECT lease.id, lease.queue, lease.lane, lease.ready_at, NULL::bigint, lease.attempts, lease.failures, lease.crashes,
       lease.marks, lease.fence, lease.worker, lease.claimed_at, lease.started_at, lease.timeout_at, lease.taken_fence,
       lease.taken_cause, lease.cancel_asked,
       note.checkpoint, note.error_message, note.error_kind, note.error_detail,
       job.priority, job.deadline, job.expires_at
FROM unnest($1::uuid[], $2::bigint[], $3::boolean[]) AS asked (id, fence, again)
CROSS JOIN LATERAL (
    SELECT * FROM leases WHERE leases.id = asked.id AND leases.fence = asked.fence FOR UPDATE
) lease
LEFT JOIN LATERAL (
    SELECT * FROM notes WHERE notes.id = CASE WHEN lease.marks & 1 <> 0 THEN lease.id END OFFSET 0
) note ON true
LEFT JOIN LATERAL (
    SELECT * FROM jobs WHERE jobs.id = CASE WHEN asked.again THEN lease.id END OFFSET 0
) job ON true
