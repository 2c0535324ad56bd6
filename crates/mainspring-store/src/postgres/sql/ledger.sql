-- A page of a schedule's ledger, latest first. Parameters: tenant, schedule, below as occurrence, version, index (NULL from
-- the end), limit. Answers (occurrence, version, index, row).
SELECT occurrence, version, index, row
FROM ledger
WHERE tenant = $1 AND schedule = $2
    AND (occurrence, version, index) < (coalesce($3::bigint, 9223372036854775807), coalesce($4::bigint, 0), coalesce($5::integer, 0))
ORDER BY occurrence DESC, version DESC, index DESC
LIMIT $6
