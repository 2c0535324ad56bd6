-- Ends every term of a node. The rows stay: the next holder's epoch is counted from them. Parameters: node.
WITH mine AS (SELECT seat FROM seats WHERE holder = $1 ORDER BY seat FOR UPDATE)
UPDATE seats SET until = 0 FROM mine WHERE seats.seat = mine.seat
