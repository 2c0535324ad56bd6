-- Whether anything is left that is past its retention. Parameters: ended_before, dead_before, now, ledger_before.
SELECT EXISTS (SELECT FROM ended_default WHERE state <> 5 AND ended_at < $1)
    OR EXISTS (SELECT FROM ended_default WHERE state = 5 AND ended_at < $2)
    OR EXISTS (SELECT FROM keys WHERE until <= $3)
    OR EXISTS (SELECT FROM ledger_default WHERE at < $4)
