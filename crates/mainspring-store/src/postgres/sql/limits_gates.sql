-- What is known of gates. Parameters: tenants, gates. Answers tenant, gate, running, state of those something is known of.
SELECT known.tenant, known.gate, known.running, known.state
FROM unnest($1::text[], $2::text[]) AS asked (tenant, gate)
CROSS JOIN LATERAL (
    SELECT * FROM gates WHERE gates.tenant = asked.tenant COLLATE "C" AND gates.gate = asked.gate COLLATE "C" OFFSET 0
) known
