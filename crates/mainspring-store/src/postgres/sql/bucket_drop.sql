-- Drops a bucket; its stragglers go to the default partitions, which take them only once their span has no partition.
CREATE TEMPORARY TABLE kept_jobs ON COMMIT DROP AS
    SELECT jobs.* FROM jobs_{bucket} AS jobs JOIN stragglers ON stragglers.id = jobs.id;
CREATE TEMPORARY TABLE kept_ended ON COMMIT DROP AS
    SELECT ended.* FROM ended_{bucket} AS ended JOIN stragglers ON stragglers.id = ended.id;
CREATE TEMPORARY TABLE kept_executions ON COMMIT DROP AS
    SELECT executions.* FROM executions_{bucket} AS executions JOIN stragglers ON stragglers.id = executions.job;
DROP TABLE jobs_{bucket}, ended_{bucket}, executions_{bucket};
INSERT INTO jobs SELECT * FROM kept_jobs;
INSERT INTO ended SELECT * FROM kept_ended;
INSERT INTO executions SELECT * FROM kept_executions;
