-- Ends leases that still hold with success, and writes them into the history, if there are no limits. Parameters: jobs, fences, results,
-- by job; now; the number of the lock on rules; whether the caller counts the steps of workflows: if not, those are left.
-- What it answers is in another file.
--
-- Looked up one by one, whatever the statistics say of tables that are empty one moment and full the next: joined freely, the planner
-- would now and then turn the join around. A look-up by NULL ends before it looks: most have no note.
held AS MATERIALIZED (
    SELECT lease.*, said.result
    FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS said (id, fence, result)
    CROSS JOIN LATERAL (
        SELECT ctid AS at, * FROM leases
        WHERE leases.id = said.id AND leases.fence = said.fence AND ($6::boolean OR leases.marks & 2 = 0) FOR UPDATE
    ) lease
    WHERE (SELECT is_unlimited($5::bigint))
), unheld AS (
    DELETE FROM leases WHERE ctid = ANY (ARRAY(SELECT at FROM held)) RETURNING 1
), over AS (
    INSERT INTO ended (id, ended_at, ready_at, queue, state, attempts, failures, crashes, marks, outcome, attempt, fence,
                       started_at, worker, result, error_message, error_kind, error_detail)
    SELECT held.id, $4::bigint, held.ready_at, held.queue, 4, held.attempts, held.failures, held.crashes, held.marks & ~1, 0,
           held.attempts, COALESCE(held.taken_fence, held.fence), COALESCE(held.started_at, held.claimed_at), held.worker,
           held.result, note.error_message, note.error_kind, note.error_detail
    FROM held
    LEFT JOIN LATERAL (
        SELECT * FROM notes WHERE notes.id = CASE WHEN held.marks & 1 <> 0 THEN held.id END OFFSET 0
    ) note ON true
), unnoted AS (
    DELETE FROM notes WHERE id = ANY (ARRAY(SELECT id FROM held WHERE marks & 1 <> 0))
), unheld_counted AS (
    INSERT INTO counts (queue, running, succeeded) SELECT queue, -count(*), count(*) FROM held GROUP BY queue
), over_checked AS MATERIALIZED (
    SELECT must_be((SELECT count(*) FROM held), (SELECT count(*) FROM unheld)), release_after(ARRAY(SELECT id FROM held)) AS awaited
)
