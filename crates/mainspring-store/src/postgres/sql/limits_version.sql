-- Which rules hold; zero if there are no limits at all.
SELECT limits_version FROM charter
