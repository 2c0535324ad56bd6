-- Jobs that live again: what followed from their end is decided by their next one. Parameters: parents.
DELETE FROM releases WHERE parent = ANY($1::uuid[])
