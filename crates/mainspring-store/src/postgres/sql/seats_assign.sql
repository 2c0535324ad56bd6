-- Writes down who is to have which segment. Parameters: segments, nodes.
INSERT INTO assigned (segment, node)
SELECT segment, node FROM unnest($1::smallint[], $2::uuid[]) AS asked (segment, node) ORDER BY segment
ON CONFLICT (segment) DO UPDATE SET node = excluded.node
