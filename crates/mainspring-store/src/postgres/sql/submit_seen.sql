-- Which of these ids were seen before. Parameters: ids.
SELECT id FROM jobs WHERE id = ANY($1::uuid[])
