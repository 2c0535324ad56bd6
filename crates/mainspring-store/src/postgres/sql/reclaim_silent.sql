-- Workers that are to be written off, locked; one that beats at this moment is not silent. Parameters: the latest expires_at.
SELECT id FROM workers WHERE expires_at <= $1::bigint ORDER BY id FOR UPDATE SKIP LOCKED
