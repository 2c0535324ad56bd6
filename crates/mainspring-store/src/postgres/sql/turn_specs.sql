-- What people said of schedules, in place of what they said before. Parameters: tenants, names, specs.
INSERT INTO schedules (tenant, name, spec)
SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
ON CONFLICT (tenant, name) DO UPDATE SET spec = excluded.spec
