-- Many jobs that wait for their time: the columns of put_waiting.sql.
COPY waiting (id, queue, lane, ready_at, expires_at, attempts, failures, crashes, marks, segment) FROM STDIN (FORMAT binary)
