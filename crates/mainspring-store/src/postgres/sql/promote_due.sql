-- Due jobs to Ready, in order of (ready_at, id); those that another node is promoting are left to it. Parameters: segments, now,
-- how many, whether all are to be named. Answers, by queue: how many, the oldest ready_at, the members of workflows among them
-- with their marks, and all of them if asked.
WITH moved AS (
    -- By their places on disk, which a lock does not change.
    DELETE FROM waiting WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM waiting WHERE ready_at <= $2::bigint AND segment = ANY($1::smallint[])
        ORDER BY ready_at, id LIMIT $3::bigint FOR UPDATE SKIP LOCKED
    ))
    RETURNING *
), offered AS (
    INSERT INTO ready (id, queue, lane, ready_at, expires_at, attempts, failures, crashes, marks)
    SELECT id, queue, lane, ready_at, expires_at, attempts, failures, crashes, marks FROM moved
)
SELECT queue, count(*), min(ready_at),
       array_agg(id) FILTER (WHERE marks & 2 <> 0), array_agg(marks) FILTER (WHERE marks & 2 <> 0),
       array_agg(id) FILTER (WHERE $4::boolean)
FROM moved GROUP BY queue
