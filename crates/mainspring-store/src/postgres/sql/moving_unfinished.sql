-- Where a move comes from that is not finished. Answers nothing, or (directory).
SELECT source_dir FROM moving WHERE finished_at IS NULL
