-- Forgets gates. Parameters: tenants, gates.
DELETE FROM gates USING unnest($1::text[], $2::text[]) AS asked (tenant, gate)
WHERE gates.tenant = asked.tenant COLLATE "C" AND gates.gate = asked.gate COLLATE "C"
