-- Remembers what idempotency keys made, in place of what is past its time. Parameters: how many, tenants, keys, jobs,
-- fingerprints, until, now. Whoever was not the first with one of these keys begins anew.
WITH new AS (
    INSERT INTO keys (tenant, key, job, fingerprint, until)
    SELECT * FROM unnest($2::text[], $3::text[], $4::uuid[], $5::bytea[], $6::bigint[])
    ON CONFLICT (tenant, key) DO UPDATE
        SET job = excluded.job, fingerprint = excluded.fingerprint, until = excluded.until
        WHERE keys.until <= $7::bigint
    RETURNING 1
)
SELECT must_be($1::bigint, count(*)) FROM new
