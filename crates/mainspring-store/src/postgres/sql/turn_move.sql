-- Schedules that go on. Parameters: the columns, in this order; their rows are there, and held. An insert that always meets its
-- row, because an update that joins a list can be planned the wrong way round.
INSERT INTO standings (tenant, name, version, segment, place, wake_at, standing)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::smallint[], $5::integer[], $6::bigint[], $7::bytea[])
ON CONFLICT (tenant, name) DO UPDATE
    SET version = excluded.version, wake_at = excluded.wake_at, standing = excluded.standing
