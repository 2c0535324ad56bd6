-- What has been done to this database, in order. Answers (number, name, checksum).
SELECT number, name, checksum FROM mainspring.migrations ORDER BY number
