-- Edges that are open no more. Parameters: parents, children.
DELETE FROM edges USING unnest($1::uuid[], $2::uuid[]) AS done (parent, child)
WHERE edges.parent = done.parent AND edges.child = done.child
