-- Puts the live rows of a table into a new file. Parameters: table, which is locked; how many rows at most. Answers whether it was
-- done: not if there are more.
SELECT renew($1::text, $2::bigint)
