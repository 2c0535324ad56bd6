-- From now on there are limits: a gate was closed. Parameters: none.
UPDATE charter SET limits_version = nextval('limits_versions') WHERE limits_version = 0
