-- Takes dead jobs out of the history; the attempt that ended each is kept with the others. Parameters: ids; how many there
-- must be.
WITH gone AS (
    DELETE FROM ended WHERE id = ANY ($1) AND state = 5 RETURNING *
), kept AS (
    INSERT INTO executions
        (job, fence, started_at, ended_at, worker, attempt, outcome, error_message, error_kind, error_detail)
    SELECT id, fence, started_at, ended_at, worker, attempt, outcome, error_message, error_kind, error_detail
    FROM gone
    WHERE attempt IS NOT NULL
)
SELECT must_be($2, count(*)) FROM gone
