-- Workers that beat. Parameters: ids, last_seen_at, expires_at.
UPDATE workers SET last_seen_at = beat.last_seen_at, expires_at = beat.expires_at
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS beat (id, last_seen_at, expires_at)
WHERE workers.id = beat.id
