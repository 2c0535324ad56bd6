-- Rules as they were elsewhere. Parameters: tenants, reaches, rules.
INSERT INTO rules (tenant, reach, rule) SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
