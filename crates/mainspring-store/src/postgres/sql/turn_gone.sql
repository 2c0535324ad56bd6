-- Schedules that are no more. Parameters: tenants, names.
WITH gone AS (
    DELETE FROM standings
    USING unnest($1::text[], $2::text[]) AS gone (tenant, name)
    WHERE standings.tenant = gone.tenant AND standings.name = gone.name
)
DELETE FROM schedules
USING unnest($1::text[], $2::text[]) AS gone (tenant, name)
WHERE schedules.tenant = gone.tenant AND schedules.name = gone.name
