-- Empties a table and puts its live rows back: the dead ones are gone with the file they were in. The caller holds the table alone.
-- Answers false, and does nothing, if there are more than so many.
CREATE FUNCTION renew(name text, rows_max bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    -- Only of ours, and only those that rows go through.
    kept jsonb;
    amount bigint;
BEGIN
    IF name NOT IN ('ready', 'waiting', 'leases', 'counts', 'releases') THEN
        RAISE EXCEPTION 'the table % is not one that is renewed', name;
    END IF;
    EXECUTE format('SELECT count(*) FROM (SELECT FROM %I LIMIT %s) AS found', name, rows_max + 1) INTO amount;
    IF amount > rows_max THEN
        RETURN false;
    END IF;
    EXECUTE format('SELECT coalesce(jsonb_agg(to_jsonb(live)), ''[]'') FROM %I AS live', name) INTO kept;
    EXECUTE format('TRUNCATE %I', name);
    EXECUTE format('INSERT INTO %1$I SELECT * FROM jsonb_populate_recordset(NULL::%1$I, $1)', name) USING kept;
    RETURN true;
END $$;
