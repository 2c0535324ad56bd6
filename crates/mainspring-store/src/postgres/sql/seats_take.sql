-- Takes each seat that is free, past its term or already the node's; the epoch rises when the holder changes.
-- Parameters: now, node, seats, until. Rows are locked in the order of seats, so that nodes never wait in a circle.
INSERT INTO seats AS held (seat, holder, epoch, until)
SELECT seat, $2, 1, $4 FROM unnest($3::smallint[]) AS asked (seat) ORDER BY seat
ON CONFLICT (seat) DO UPDATE SET
    holder = excluded.holder,
    epoch = CASE WHEN held.holder = excluded.holder THEN held.epoch ELSE held.epoch + 1 END,
    until = excluded.until
WHERE held.holder = excluded.holder OR held.until <= $1
