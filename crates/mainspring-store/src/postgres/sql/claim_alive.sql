-- Workers that were silent and show by their claim that they live. Parameters: ids, now.
UPDATE workers SET last_seen_at = $2::bigint, expires_at = LEAST($2::bigint + lease_ms, 281474976710655)
WHERE id = ANY($1::uuid[]) AND expires_at <> 0
