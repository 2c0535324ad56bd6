-- The schema that everything of ours lives in, and the list of what has been done to it.
CREATE SCHEMA IF NOT EXISTS mainspring;
CREATE TABLE mainspring.migrations (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL,
    -- For people; nothing is decided by it.
    applied_at timestamptz NOT NULL DEFAULT now()
);
