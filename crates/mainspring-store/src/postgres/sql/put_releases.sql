-- Jobs that ended. Parameters: ids, states. Answers those that others wait for, which are put on the list.
--
-- Must be a statement of its own after the one that took the job out of its table: a child that was submitted meanwhile
-- held a lock on that row until it was there, and only a newer snapshot sees it.
INSERT INTO releases (parent, state)
SELECT job.id, job.state FROM unnest($1::uuid[], $2::smallint[]) AS job (id, state)
WHERE (SELECT true FROM edges LIMIT 1) AND (SELECT true FROM edges WHERE edges.parent = job.id LIMIT 1)
ON CONFLICT (parent) DO UPDATE SET state = excluded.state
RETURNING parent
