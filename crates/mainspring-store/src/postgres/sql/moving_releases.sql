-- Parents that ended elsewhere while others waited for them. Parameters: parents, states.
INSERT INTO releases (parent, state) SELECT * FROM unnest($1::uuid[], $2::smallint[])
