-- What a person changed of jobs. Parameters: ids, data, priorities, run_at, expires_at (all of them, changed or not).
UPDATE jobs SET data = patch.data, priority = patch.priority, run_at = patch.run_at, expires_at = patch.expires_at
FROM unnest($1::uuid[], $2::text[], $3::smallint[], $4::bigint[], $5::bigint[])
    AS patch (id, data, priority, run_at, expires_at)
WHERE jobs.id = patch.id AND jobs.id = ANY ($1::uuid[])
