-- Holds schedules until the transaction ends, in the order given. Parameters: tenants, names. Answers (tenant, name, version) of
-- those that are there. Asked one by one, so that no plan can read all schedules for it.
SELECT held.tenant, held.name, held.version
FROM unnest($1::text[], $2::text[]) AS asked (tenant, name)
CROSS JOIN LATERAL (
    SELECT tenant, name, version FROM standings
    WHERE standings.tenant = asked.tenant AND standings.name = asked.name
    FOR UPDATE
) AS held
