-- How many queues there are.
SELECT count(*) FROM queues
