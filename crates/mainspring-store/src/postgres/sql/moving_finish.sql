-- The move is verified. Parameters: now.
UPDATE moving SET finished_at = $1::bigint
