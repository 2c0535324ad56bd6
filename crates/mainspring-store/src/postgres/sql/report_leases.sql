-- Writes down when attempts began and that they left something behind. Parameters: ids, started_at, marks.
UPDATE leases SET started_at = said.started_at, marks = said.marks
FROM unnest($1::uuid[], $2::bigint[], $3::smallint[]) AS said (id, started_at, marks)
WHERE leases.id = said.id
