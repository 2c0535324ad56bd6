-- Who is to have which segment. Answers (segment, node).
SELECT segment, node FROM assigned ORDER BY segment
