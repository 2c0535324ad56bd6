-- At most one row: what was moved into this database from a data directory, and how far that has come. Written in the same
-- transaction as the rows it tells of, so a move that was killed goes on where it was.
CREATE TABLE moving (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    -- Which state of which store: a source that was written to in between is another one.
    source      text NOT NULL,
    -- Where it was, for people.
    source_dir  text NOT NULL,
    -- moving::Stage, in the order of copying; one past the last: everything is copied, and not verified.
    stage       smallint NOT NULL,
    -- The key in the source after which the stage goes on.
    after       bytea,
    -- What was read from the source so far: counts and sums, moving::Tally
    tally       bytea NOT NULL,
    -- When it was verified; NULL while no server may work on this database.
    finished_at bigint
);
