-- Gates that time may have opened, locked; those that somebody else is at tell it themselves. Parameters: now, how many. Answers
-- tenant, gate, running, state.
SELECT tenant, gate, running, state FROM gates WHERE opens_at <= $1::bigint
ORDER BY opens_at LIMIT $2::bigint FOR UPDATE SKIP LOCKED
