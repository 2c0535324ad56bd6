-- Takes parents off the list for which nothing is left to be done. Parameters: up to which parent.
DELETE FROM releases WHERE parent <= $1::uuid
    AND NOT EXISTS (SELECT FROM edges WHERE edges.parent = releases.parent AND (releases.state = 4 OR edges.on_failure <> 2))
