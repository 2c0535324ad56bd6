-- Tells the planner what has come in.
ANALYZE jobs, ended, executions, notes, waiting, ready, aside, leases, counts, keys, edges, workflows, schedules, standings, ledger
