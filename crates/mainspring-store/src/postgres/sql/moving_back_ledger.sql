-- The whole ledger. Answers (occurrence, version, index, row), then whose.
SELECT occurrence, version, index, row, tenant, schedule FROM ledger
