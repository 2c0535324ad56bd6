-- Writes down who is to have which segment; of two for one segment, the last. Parameters: segments, nodes.
INSERT INTO assigned (segment, node)
SELECT DISTINCT ON (segment) segment, node
FROM unnest($1::smallint[], $2::uuid[]) WITH ORDINALITY AS asked (segment, node, place) ORDER BY segment, place DESC
ON CONFLICT (segment) DO UPDATE SET node = excluded.node
