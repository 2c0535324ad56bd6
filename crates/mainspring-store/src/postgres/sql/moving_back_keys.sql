-- Everything that idempotency keys made. Answers (tenant, key, job, fingerprint, until).
SELECT tenant, key, job, fingerprint, until FROM keys
