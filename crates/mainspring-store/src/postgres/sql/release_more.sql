-- Whether there is more on the list. Parameters: segments of children.
SELECT EXISTS (
    SELECT FROM releases parent
    JOIN edges edge ON edge.parent = parent.parent AND (parent.state = 4 OR edge.on_failure <> 2)
    JOIN aside child ON child.id = edge.child AND child.segment = ANY($1::smallint[])
) OR EXISTS (
    SELECT FROM workflows workflow
    JOIN aside callback ON callback.id = workflow.callback AND callback.state = 0 AND callback.segment = ANY($1::smallint[])
    WHERE workflow.callback_waits
        AND workflow.blocked + workflow.waiting + workflow.ready + workflow.paused + workflow.running = 0
)
