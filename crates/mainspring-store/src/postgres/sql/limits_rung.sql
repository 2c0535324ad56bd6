-- When gates open next. Parameters: tenants, gates, opens_at.
UPDATE gates SET opens_at = next.opens_at
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS next (tenant, gate, opens_at)
WHERE gates.tenant = next.tenant COLLATE "C" AND gates.gate = next.gate COLLATE "C"
