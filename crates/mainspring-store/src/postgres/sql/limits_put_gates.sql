-- What is known of gates from now on. Parameters: tenants, gates, running, opens_at, states.
INSERT INTO gates (tenant, gate, running, opens_at, state)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[])
ON CONFLICT (tenant, gate) DO UPDATE SET
    running = excluded.running, opens_at = excluded.opens_at, state = excluded.state
