-- Schedules that are new. Parameters: how many there must be, then the columns. If somebody else was faster with one, all
-- begins anew.
WITH made AS (
    INSERT INTO standings (tenant, name, version, segment, place, wake_at, standing)
    SELECT * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::smallint[], $6::integer[], $7::bigint[], $8::bytea[])
    ON CONFLICT (tenant, name) DO NOTHING
    RETURNING 1
)
SELECT must_be($1, count(*)) FROM made
