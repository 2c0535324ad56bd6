-- Members of workflows that moved. Parameters: ids, places before and after (0–6 the states, 7 paused, -1 not there), and
-- whether each is its workflow's callback, which is not counted as a step. Answers the steps that ended in a workflow whose
-- callback can go now, in the order given.
--
-- Workflows are locked in one order. Whoever waits for the lock adds to what the other left, so the last step is always seen.
WITH moved AS (
    SELECT step.*, queue.tenant, job.workflow
    FROM unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::boolean[])
         WITH ORDINALITY AS step (id, old, new, is_callback, place)
    JOIN jobs job ON job.id = step.id
    JOIN queues queue ON queue.id = job.queue
), changes AS (
    SELECT tenant, workflow,
        sum((NOT is_callback AND new = 0)::int - (NOT is_callback AND old = 0)::int)::int AS blocked,
        sum((NOT is_callback AND new = 1)::int - (NOT is_callback AND old = 1)::int)::int AS waiting,
        sum((NOT is_callback AND new = 2)::int - (NOT is_callback AND old = 2)::int)::int AS ready,
        sum((NOT is_callback AND new = 3)::int - (NOT is_callback AND old = 3)::int)::int AS running,
        sum((NOT is_callback AND new = 4)::int - (NOT is_callback AND old = 4)::int)::int AS succeeded,
        sum((NOT is_callback AND new = 5)::int - (NOT is_callback AND old = 5)::int)::int AS dead,
        sum((NOT is_callback AND new = 6)::int - (NOT is_callback AND old = 6)::int)::int AS cancelled,
        sum((NOT is_callback AND new = 7)::int - (NOT is_callback AND old = 7)::int)::int AS paused
    FROM moved GROUP BY tenant, workflow ORDER BY tenant, workflow
), changed AS (
    UPDATE workflows SET
        blocked = workflows.blocked + changes.blocked, waiting = workflows.waiting + changes.waiting,
        ready = workflows.ready + changes.ready, running = workflows.running + changes.running,
        succeeded = workflows.succeeded + changes.succeeded, dead = workflows.dead + changes.dead,
        cancelled = workflows.cancelled + changes.cancelled, paused = workflows.paused + changes.paused
    FROM changes WHERE workflows.tenant = changes.tenant AND workflows.id = changes.workflow
    RETURNING workflows.tenant, workflows.id, workflows.callback_waits
        AND workflows.blocked + workflows.waiting + workflows.ready + workflows.paused + workflows.running = 0 AS is_free
)
SELECT moved.id, moved.workflow FROM moved
JOIN changed ON changed.tenant = moved.tenant AND changed.id = moved.workflow AND changed.is_free
WHERE NOT moved.is_callback AND moved.new IN (4, 5, 6) ORDER BY moved.place
