-- Who waits for whom. Answers (parent, child, on_failure).
SELECT parent, child, on_failure FROM edges
