-- When time opens the next gate.
SELECT opens_at FROM (SELECT min(opens_at) AS opens_at FROM gates WHERE opens_at IS NOT NULL) next
