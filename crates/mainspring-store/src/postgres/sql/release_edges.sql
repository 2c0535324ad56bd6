-- What is next on the list of parents that ended: open edges for which something is to be done, by parent and child, with the
-- child locked. Parameters: segments of children, how many. Answers the child's slip, whether it is paused, its priority and
-- deadline; then parent, how that ended, on_failure.
--
-- An edge that holds after a failure stays open: nothing is to be done for it. The parent's entry is kept from being dropped
-- by somebody who revives it. A child that somebody else is at is left for the next time.
SELECT child.id, child.queue, child.lane, child.ready_at, child.expires_at, child.attempts, child.failures, child.crashes,
       child.marks, child.paused, job.priority, job.deadline, parent.parent, parent.state, edge.on_failure
FROM releases parent
JOIN edges edge ON edge.parent = parent.parent AND (parent.state = 4 OR edge.on_failure <> 2)
JOIN aside child ON child.id = edge.child AND child.segment = ANY($1::smallint[])
JOIN jobs job ON job.id = edge.child
ORDER BY parent.parent, edge.child LIMIT $2::bigint
FOR UPDATE OF child SKIP LOCKED FOR KEY SHARE OF parent SKIP LOCKED
