-- Parents that ended while others waited. Answers (parent, state).
SELECT parent, state FROM releases
