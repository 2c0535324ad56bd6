-- Whether anything is in this database, or anybody works on it. Parameters: now. Answers (a node that is alive, then whether there
-- are jobs, queues, schedules or their ledger, limits, workers, keys).
SELECT
    (SELECT id FROM nodes WHERE until > $1::bigint ORDER BY id LIMIT 1),
    EXISTS (SELECT FROM jobs), EXISTS (SELECT FROM queues),
    EXISTS (SELECT FROM schedules) OR EXISTS (SELECT FROM standings) OR EXISTS (SELECT FROM ledger),
    EXISTS (SELECT FROM rules) OR EXISTS (SELECT FROM gates), EXISTS (SELECT FROM workers), EXISTS (SELECT FROM keys)
