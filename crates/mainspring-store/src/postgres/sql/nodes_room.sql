-- How many other nodes there are, and whether this one is known. Parameters: node. Answers (others, known).
SELECT count(*) FILTER (WHERE id <> $1), coalesce(bool_or(id = $1), false) FROM nodes
