-- Jobs that are handed out, and what the attempt before left behind. Parameters: ids, marks. Answers the job, checkpoint, error, in
-- the order given.
--
-- Looked up one by one, whatever the statistics say of tables that are empty one moment and full the next. A look-up by NULL
-- ends before it looks: most have no note.
SELECT job.id, job.priority, job.weight, job.submitted_at, job.run_at, job.max_attempts, job.max_crashes, job.deadline,
       job.expires_at, job.timeout_ms, job.workflow, job.kind, job.schedule, job.concurrency_key, job.rate_key, job.data,
       job.extras::text,
       note.checkpoint, note.error_message, note.error_kind, note.error_detail
FROM unnest($1::uuid[], $2::smallint[]) WITH ORDINALITY AS pick (id, marks, place)
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE jobs.id = pick.id OFFSET 0) job
LEFT JOIN LATERAL (
    SELECT * FROM notes WHERE notes.id = CASE WHEN pick.marks & 1 <> 0 THEN pick.id END OFFSET 0
) note ON true
ORDER BY pick.place
