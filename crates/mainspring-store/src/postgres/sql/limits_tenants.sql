-- Tenants of whose gates something is known.
SELECT DISTINCT tenant FROM gates ORDER BY tenant
