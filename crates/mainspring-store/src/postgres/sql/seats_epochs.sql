-- The epochs that stand. Parameters: seats. Answers (seat, epoch).
SELECT seat, epoch FROM seats WHERE seat = ANY ($1::smallint[])
