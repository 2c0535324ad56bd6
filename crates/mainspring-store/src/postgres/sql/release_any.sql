-- Whether there is anything on the list at all: two looks at indexes that are empty most of the time.
SELECT EXISTS (SELECT FROM releases) OR EXISTS (
    SELECT FROM workflows
    WHERE callback_waits AND blocked + waiting + ready + paused + running = 0
)
