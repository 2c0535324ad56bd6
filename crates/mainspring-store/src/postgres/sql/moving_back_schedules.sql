-- Every schedule. Answers as schedule.sql, then the version that a turn compares.
SELECT schedules.tenant, schedules.name, schedules.spec, standings.standing, standings.version
FROM schedules
JOIN standings ON standings.tenant = schedules.tenant AND standings.name = schedules.name
