-- From now on other rules hold. Parameters: none.
UPDATE charter SET limits_version = nextval('limits_versions')
