-- Counts the jobs of a bucket that go out of their queues. Answers how many they are.
WITH going AS (
    SELECT ended.queue,
        count(*) FILTER (WHERE ended.state = 4) AS succeeded,
        count(*) FILTER (WHERE ended.state = 5) AS dead,
        count(*) FILTER (WHERE ended.state = 6) AS cancelled
    FROM ended_{bucket} AS ended
    WHERE NOT EXISTS (SELECT FROM stragglers WHERE stragglers.id = ended.id)
    GROUP BY ended.queue
), counted AS (
    INSERT INTO counts (queue, succeeded, dead, cancelled)
    SELECT queue, -succeeded, -dead, -cancelled FROM going
)
SELECT coalesce(sum(succeeded + dead + cancelled), 0)::bigint FROM going
