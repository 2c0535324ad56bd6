-- Leases that say something of themselves, locked in one order. Parameters: jobs, fences; by job. Answers id, fence, started_at,
-- whether somebody asked it to stop, marks, and what attempts left behind.
SELECT lease.id, lease.fence, lease.started_at, lease.cancel_asked IS NOT NULL, lease.marks,
       note.checkpoint, note.has_progress, note.progress_percent, note.progress_note,
       note.error_message, note.error_kind, note.error_detail
FROM unnest($1::uuid[], $2::bigint[]) AS asked (id, fence)
CROSS JOIN LATERAL (
    SELECT * FROM leases WHERE leases.id = asked.id AND leases.fence = asked.fence FOR UPDATE
) lease
LEFT JOIN LATERAL (
    SELECT * FROM notes WHERE notes.id = CASE WHEN lease.marks & 1 <> 0 THEN lease.id END OFFSET 0
) note ON true
