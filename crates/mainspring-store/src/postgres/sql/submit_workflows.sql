-- Workflows that are here already. Parameters: tenants, ids. Answers tenant, id, how many steps have not ended. They are
-- locked, so that none of these steps ends before we are done.
SELECT known.tenant, known.id, (known.blocked + known.waiting + known.ready + known.paused + known.running)::bigint
FROM unnest($1::text[], $2::uuid[]) AS asked (tenant, id)
JOIN workflows known ON known.tenant = asked.tenant COLLATE "C" AND known.id = asked.id
ORDER BY known.tenant, known.id FOR UPDATE OF known
