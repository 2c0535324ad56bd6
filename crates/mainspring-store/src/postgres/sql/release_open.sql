-- The open edges of children that are locked. Parameters: children. Answers child, parent, and whether the child has children of
-- its own.
--
-- A statement of its own, after the children were locked: only now nobody else can satisfy one of their edges.
SELECT edge.child, edge.parent, EXISTS (SELECT FROM edges own WHERE own.parent = edge.child)
FROM edges edge WHERE edge.child = ANY($1::uuid[])
