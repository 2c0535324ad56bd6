-- After succeed_with.sql: those that ended, and whether others wait for them.
SELECT id, fence, queue, marks, ready_at, id = ANY (awaited) FROM held CROSS JOIN over_checked
