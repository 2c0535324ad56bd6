-- Forgets workflows of which no member is left.
DELETE FROM workflows WHERE members = 0
