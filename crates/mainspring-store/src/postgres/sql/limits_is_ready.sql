-- Whether a job is on offer. Parameters: id. Answers a row if it is.
SELECT FROM ready WHERE id = $1::uuid
