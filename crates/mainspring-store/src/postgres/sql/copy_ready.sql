-- Many jobs that are on offer from now on: the columns of put_ready.sql.
COPY ready (id, queue, lane, ready_at, expires_at, attempts, failures, crashes, marks, lot) FROM STDIN (FORMAT binary)
