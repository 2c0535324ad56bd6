-- Every lease, with what its job's view does not show. Answers (job, why it was taken back, the fence before).
SELECT id, taken_cause, taken_fence FROM leases
