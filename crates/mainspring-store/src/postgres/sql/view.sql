-- Jobs, each with all that is known of it; which, says whoever asks. Where it is says what it does: of the tables beside `jobs`, one has it.
-- Answers (tenant, queue, the 17 columns that record.rs reads, the 24 that view.rs reads).
SELECT
    queues.tenant, queues.name,
    jobs.id, jobs.priority, jobs.weight, jobs.submitted_at, jobs.run_at, jobs.max_attempts, jobs.max_crashes, jobs.deadline,
    jobs.expires_at, jobs.timeout_ms, jobs.workflow, jobs.kind, jobs.schedule, jobs.concurrency_key, jobs.rate_key, jobs.data,
    jobs.extras::text,
    CASE WHEN waiting.id IS NOT NULL THEN 1::smallint
         WHEN ready.id IS NOT NULL THEN 2::smallint
         WHEN leases.id IS NOT NULL THEN 3::smallint
         ELSE coalesce(aside.state, ended.state) END,
    coalesce(aside.paused, false),
    coalesce(waiting.ready_at, ready.ready_at, leases.ready_at, aside.ready_at, ended.ready_at),
    coalesce(waiting.attempts, ready.attempts, leases.attempts, aside.attempts, ended.attempts),
    coalesce(waiting.failures, ready.failures, leases.failures, aside.failures, ended.failures),
    coalesce(waiting.crashes, ready.crashes, leases.crashes, aside.crashes, ended.crashes),
    leases.fence, leases.worker, leases.claimed_at, leases.started_at, leases.timeout_at, leases.cancel_asked,
    coalesce(notes.checkpoint, ended.checkpoint),
    coalesce(notes.has_progress, false), notes.progress_percent, notes.progress_note,
    coalesce(notes.error_message, ended.error_message),
    CASE WHEN notes.error_message IS NULL THEN ended.error_kind ELSE notes.error_kind END,
    CASE WHEN notes.error_message IS NULL THEN ended.error_detail ELSE notes.error_detail END,
    ended.ended_at, ended.result, ended.reason,
    jobs.queue, coalesce(waiting.marks, ready.marks, leases.marks, aside.marks, ended.marks)
FROM jobs
JOIN queues ON queues.id = jobs.queue
LEFT JOIN waiting ON waiting.id = jobs.id
LEFT JOIN ready ON ready.id = jobs.id
LEFT JOIN leases ON leases.id = jobs.id
LEFT JOIN aside ON aside.id = jobs.id
LEFT JOIN ended ON ended.id = jobs.id
LEFT JOIN notes ON notes.id = jobs.id
