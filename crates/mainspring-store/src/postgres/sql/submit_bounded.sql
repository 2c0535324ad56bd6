-- Which of these queues take only so many jobs. Parameters: queues. Answers id, max_depth. They are locked, in one order, so
-- that two nodes do not both take the last place; other queues are not.
SELECT id, max_depth FROM queues WHERE id = ANY($1::int[]) AND max_depth IS NOT NULL ORDER BY id FOR UPDATE
