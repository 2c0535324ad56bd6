-- Writes down a step. Parameters: number, name, checksum.
INSERT INTO mainspring.migrations (number, name, checksum) VALUES ($1, $2, $3)
