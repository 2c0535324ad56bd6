-- A page of the schedules of a tenant, by name. Parameters: tenant, above (NULL from the beginning), limit. Answers as
-- schedule.sql.
SELECT schedules.tenant, schedules.name, schedules.spec, standings.standing
FROM schedules
JOIN standings ON standings.tenant = schedules.tenant AND standings.name = schedules.name
WHERE schedules.tenant = $1 AND schedules.name > coalesce($2::text, '')
ORDER BY schedules.name
LIMIT $3
