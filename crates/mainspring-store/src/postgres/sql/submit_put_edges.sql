-- Whom children wait for. Parameters: parents, children, on_failure.
INSERT INTO edges (parent, child, on_failure) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::smallint[])
