-- How far a move has come. Answers nothing, or (source, source_dir, stage, after, tally, finished_at).
SELECT source, source_dir, stage, after, tally, finished_at FROM moving
