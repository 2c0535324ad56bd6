-- Clears a rule. Parameters: tenant, reach.
DELETE FROM rules WHERE tenant = $1::text COLLATE "C" AND reach = $2::text COLLATE "C"
