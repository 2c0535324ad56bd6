-- Prolongs every term of a node that it has not given up. Parameters: node, until.
WITH mine AS (SELECT seat FROM seats WHERE holder = $1 AND until <> 0 ORDER BY seat FOR UPDATE)
UPDATE seats SET until = $2 FROM mine WHERE seats.seat = mine.seat
