-- Many jobs that are over: the columns of put_ended.sql.
COPY ended (id, ended_at, ready_at, queue, state, attempts, failures, crashes, marks, outcome, attempt, fence, started_at, worker,
            result, reason, error_message, error_kind, error_detail, checkpoint) FROM STDIN (FORMAT binary)
