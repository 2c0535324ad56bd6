-- One schedule. Parameters: tenant, name. Answers (tenant, name, spec, standing).
SELECT schedules.tenant, schedules.name, schedules.spec, standings.standing
FROM schedules
JOIN standings ON standings.tenant = schedules.tenant AND standings.name = schedules.name
WHERE schedules.tenant = $1 AND schedules.name = $2
