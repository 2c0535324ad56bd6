-- Ends those of these terms that are a node's. Parameters: node, seats.
WITH mine AS (SELECT seat FROM seats WHERE holder = $1 AND seat = ANY ($2::smallint[]) ORDER BY seat FOR UPDATE)
UPDATE seats SET until = 0 FROM mine WHERE seats.seat = mine.seat
