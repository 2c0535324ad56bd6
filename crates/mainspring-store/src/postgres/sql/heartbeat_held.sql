-- How many leases workers hold; what was taken back from them is not among them. Parameters: ids. Answers worker, count.
SELECT worker, count(*) FROM leases WHERE worker = ANY($1::uuid[]) AND taken_cause IS NULL GROUP BY worker
