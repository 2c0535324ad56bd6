-- What idempotency keys made. Parameters: tenants, keys. Answers tenant, key, job, fingerprint, until.
SELECT known.tenant, known.key, known.job, known.fingerprint, known.until
FROM unnest($1::text[], $2::text[]) AS asked (tenant, key)
CROSS JOIN LATERAL (
    SELECT * FROM keys WHERE keys.tenant = asked.tenant COLLATE "C" AND keys.key = asked.key COLLATE "C" OFFSET 0
) known
