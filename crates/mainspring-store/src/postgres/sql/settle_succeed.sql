-- Ends leases that still hold with success, and writes them into the history. Parameters: jobs, fences, results, by job; now.
-- Answers id, fence, queue, marks, ready_at of those that did.
--
-- The row is taken, not locked first: whoever else ends the same lease waits here, and then finds it gone. A look-up by NULL ends
-- before it looks: most have no note.
WITH gone AS (
    DELETE FROM leases USING unnest($1::uuid[], $2::bigint[], $3::text[]) AS said (id, fence, result)
    WHERE leases.id = said.id AND leases.fence = said.fence
    RETURNING leases.id, leases.fence, leases.worker, leases.claimed_at, leases.ready_at, leases.started_at, leases.taken_fence,
        leases.queue, leases.attempts, leases.failures, leases.crashes, leases.marks, said.result
), over AS (
    INSERT INTO ended (id, ended_at, ready_at, queue, state, attempts, failures, crashes, marks, outcome, attempt, fence,
                       started_at, worker, result, error_message, error_kind, error_detail)
    SELECT gone.id, $4::bigint, gone.ready_at, gone.queue, 4, gone.attempts, gone.failures, gone.crashes, gone.marks & ~1, 0,
           gone.attempts, COALESCE(gone.taken_fence, gone.fence), COALESCE(gone.started_at, gone.claimed_at), gone.worker,
           gone.result, note.error_message, note.error_kind, note.error_detail
    FROM gone
    LEFT JOIN LATERAL (
        SELECT * FROM notes WHERE notes.id = CASE WHEN gone.marks & 1 <> 0 THEN gone.id END OFFSET 0
    ) note ON true
), unnoted AS (
    DELETE FROM notes WHERE id = ANY (ARRAY(SELECT id FROM gone WHERE marks & 1 <> 0))
), counted AS (
    INSERT INTO counts (queue, running, succeeded) SELECT queue, -count(*), count(*) FROM gone GROUP BY queue
)
SELECT id, fence, queue, marks, ready_at FROM gone
