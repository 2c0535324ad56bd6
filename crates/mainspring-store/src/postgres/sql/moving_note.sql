-- How far the move has come. Parameters: stage, after, tally.
UPDATE moving SET stage = $1::smallint, after = $2::bytea, tally = $3::bytea
