-- Sets a rule, in place of the one before. Parameters: tenant, reach, rule.
INSERT INTO rules (tenant, reach, rule) VALUES ($1::text, $2::text, $3::bytea)
ON CONFLICT (tenant, reach) DO UPDATE SET rule = excluded.rule
