-- What lets the common calls be one statement each, which is a transaction of its own. Functions that are volatile look anew: what
-- they read was committed before they were called, not before the statement began.

-- Keeps rules from changing until the transaction is over, and says whether there are none. Parameters: the number of the lock.
CREATE FUNCTION is_unlimited(lock bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(lock);
    RETURN (SELECT limits_version = 0 FROM charter);
END $$;

-- Successes that others wait for: put on the list. Answers which. To be called once their leases are locked: a child that was submitted
-- meanwhile held a lock on that row until it was there, and only a newer look than the one that found the lease sees it.
CREATE FUNCTION release_after(jobs uuid[]) RETURNS uuid[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    awaited uuid[];
BEGIN
    IF NOT EXISTS (SELECT FROM edges) THEN
        RETURN '{}';
    END IF;
    WITH listed AS (
        INSERT INTO releases (parent, state)
        SELECT ended.id, 4 FROM unnest(jobs) AS ended (id)
        WHERE (SELECT true FROM edges WHERE edges.parent = ended.id LIMIT 1)
        ON CONFLICT (parent) DO UPDATE SET state = excluded.state
        RETURNING parent
    )
    SELECT array_agg(parent) INTO awaited FROM listed;
    RETURN coalesce(awaited, '{}');
END $$;
