-- Where ready jobs stand from now on. Parameters: ids, lots.
UPDATE ready SET lot = place.lot FROM unnest($1::uuid[], $2::bigint[]) AS place (id, lot)
WHERE ready.id = place.id AND ready.id = ANY($1::uuid[]) AND ready.lot <> place.lot
