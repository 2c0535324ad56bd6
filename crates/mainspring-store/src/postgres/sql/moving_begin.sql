-- A move begins. Parameters: source, directory, stage, tally.
INSERT INTO moving (source, source_dir, stage, tally) VALUES ($1::text, $2::text, $3::smallint, $4::bytea)
