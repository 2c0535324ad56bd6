-- Every rule there is. Answers tenant, reach, rule.
SELECT tenant, reach, rule FROM rules
