-- Successes that others wait for: put on the list. Parameters: jobs. Answers which.
--
-- Must be a statement of its own after the one that took the lease: a child that was submitted meanwhile held a lock on that row
-- until it was there, and only a newer snapshot sees it. Of a job that had succeeded before this is no news, and does no harm.
INSERT INTO releases (parent, state)
SELECT said.id, 4 FROM unnest($1::uuid[]) AS said (id)
WHERE (SELECT true FROM edges LIMIT 1)
    AND (SELECT true FROM edges WHERE edges.parent = said.id LIMIT 1)
    AND EXISTS (SELECT FROM ended WHERE ended.id = said.id AND ended.state = 4)
ON CONFLICT (parent) DO UPDATE SET state = excluded.state
RETURNING parent
