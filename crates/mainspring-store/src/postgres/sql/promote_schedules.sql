-- Schedules whose time has come. Parameters: segments, now, how many. Answers tenant, name, spec, standing.
SELECT standing.tenant, standing.name, schedule.spec, standing.standing
FROM standings standing JOIN schedules schedule USING (tenant, name)
WHERE standing.wake_at <= $2::bigint AND standing.segment = ANY($1::smallint[])
ORDER BY standing.wake_at, standing.place, standing.tenant, standing.name LIMIT $3::bigint
