-- Whether this database has been migrated at all.
SELECT to_regclass('mainspring.migrations') IS NOT NULL
