-- Everything Mainspring keeps, in its first form. The migration runner has made the schema and set search_path to it.
--
-- Instants and durations are whole milliseconds (bigint). Texts that are sorted or compared use the "C" collation: names are
-- ordered by their bytes everywhere. A job's state is *which table it is in*:
--
--   Blocked, or paused  aside        Waiting  waiting      Ready  ready
--   Running             leases       Succeeded, Dead, Cancelled   ended
--
-- `jobs` holds what was submitted and is not touched again, except by a person who patches it. The tables beside it are
-- small and hot: rows move from one to the next and are never updated on the way, except leases.
--
-- Numbers that stand for words:
--   state       0 Blocked, 1 Waiting, 2 Ready, 3 Running, 4 Succeeded, 5 Dead, 6 Cancelled
--   marks       1 there is a row in notes; 2 it belongs to a workflow; 4 it is that workflow's callback;
--               8 there may be rows in executions; 16 it shares limits by a key
--   outcome     0 Succeeded, 1 Failed, 2 TimedOut, 3 Crashed, 4 Snoozed, 5 Released, 6 Cancelled, 7 RateLimited
--   cause       1 Timeout, 2 Crash
--   on_failure  0 Cancel, 1 Run, 2 Hold
--   "order"     0 Work, 1 Quiet, 2 Terminate

-- One row: what all nodes must agree on.
CREATE TABLE charter (
    one            boolean PRIMARY KEY DEFAULT true CHECK (one),
    segments       smallint NOT NULL,
    -- Rises whenever a rule is set or cleared, or a gate is closed or opened by hand. Zero while no rule was ever set and no
    -- gate was ever closed: claims and settlements then ask for no gates.
    limits_version bigint NOT NULL DEFAULT 0,
    -- Which of how many databases this is, counted from 0, and the name that all of them share. NULL until a node opens it.
    shard          integer,
    shards         integer,
    cluster        uuid,
    CHECK (shard >= 0 AND shard < shards)
);
INSERT INTO charter (segments) VALUES (100);

-- Never reused, never going back. Taken after the job's row is locked, so that a later claim of it has a higher one.
CREATE SEQUENCE fences;
-- Versions of schedules.
CREATE SEQUENCE versions;
-- Values of charter.limits_version: one that was rolled back is never seen again, so nodes may remember rules by it.
CREATE SEQUENCE limits_versions;

-- A queue of a tenant, by the number that rows carry. Never deleted, so nodes may remember (tenant, name) → id for good.
CREATE TABLE queues (
    id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant    text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    paused    boolean NOT NULL DEFAULT false,
    -- core Aging::point_ms; the default is Aging::DEFAULT
    point_ms  bigint NOT NULL DEFAULT 10000,
    max_depth bigint,
    UNIQUE (tenant, name)
);
-- For claims that are for all tenants.
CREATE INDEX queues_by_name ON queues (name);

-- How many jobs of a queue are where: the sum over all its rows. Writers add rows of differences and lock nothing; the
-- upkeep folds them together.
CREATE TABLE counts (
    queue     integer NOT NULL,
    blocked   bigint NOT NULL DEFAULT 0,
    waiting   bigint NOT NULL DEFAULT 0,
    ready     bigint NOT NULL DEFAULT 0,
    paused    bigint NOT NULL DEFAULT 0,
    running   bigint NOT NULL DEFAULT 0,
    succeeded bigint NOT NULL DEFAULT 0,
    dead      bigint NOT NULL DEFAULT 0,
    cancelled bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX counts_by_queue ON counts (queue);

-- The job as it was submitted. Ids are UUIDv7: a range of ids is a span of time, and `jobs`, `ended` and `executions` are cut
-- into the same spans, which are dropped whole. What fits none of them lies in the default partition.
CREATE TABLE jobs (
    id           uuid NOT NULL,
    queue        integer NOT NULL,
    priority     smallint NOT NULL DEFAULT 5,
    weight       integer NOT NULL DEFAULT 1,
    submitted_at bigint NOT NULL,
    run_at       bigint NOT NULL,
    max_attempts integer NOT NULL DEFAULT 3,
    max_crashes  integer NOT NULL DEFAULT 5,
    deadline     bigint,
    expires_at   bigint,
    timeout_ms   bigint,
    workflow     uuid,
    kind         text COLLATE "C" NOT NULL,
    schedule     text COLLATE "C",
    -- The keys of its limits, if it has any.
    concurrency_key text COLLATE "C",
    rate_key     text COLLATE "C",
    -- JSON as the client wrote it, to the byte.
    data         text NOT NULL,
    -- What most jobs do not have: retry, tags, idempotency, depends_on, step and role in the workflow, occurrence. See
    -- extras.rs.
    extras       jsonb,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE TABLE jobs_default PARTITION OF jobs DEFAULT;
CREATE INDEX jobs_by_workflow ON jobs (workflow, id) WHERE workflow IS NOT NULL;
CREATE INDEX jobs_by_schedule ON jobs (schedule, id) WHERE schedule IS NOT NULL;

-- What attempts left behind for the next one, and for readers. Only for jobs marked 1. A job that ended takes it along.
CREATE TABLE notes (
    id               uuid PRIMARY KEY,
    checkpoint       text,
    progress_percent real,
    progress_note    text,
    has_progress     boolean NOT NULL DEFAULT false,
    error_message    text,
    error_kind       text,
    error_detail     text
) WITH (fillfactor = 70);

-- Waiting for their time, and not paused. `lane` is the one it will be ready in; `expires_at` is there only while the job
-- was never tried (a job that was tried once has started).
CREATE TABLE waiting (
    id         uuid PRIMARY KEY,
    ready_at   bigint NOT NULL,
    expires_at bigint,
    queue      integer NOT NULL,
    lane       smallint NOT NULL,
    attempts   smallint NOT NULL DEFAULT 0,
    failures   smallint NOT NULL DEFAULT 0,
    crashes    smallint NOT NULL DEFAULT 0,
    marks      smallint NOT NULL DEFAULT 0,
    segment    smallint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX waiting_in_order ON waiting (ready_at, id);
CREATE INDEX waiting_expiring ON waiting (expires_at, id) WHERE expires_at IS NOT NULL;

-- Blocked, or paused in Blocked, Waiting or Ready.
CREATE TABLE aside (
    id         uuid PRIMARY KEY,
    ready_at   bigint NOT NULL,
    expires_at bigint,
    queue      integer NOT NULL,
    lane       smallint NOT NULL,
    attempts   smallint NOT NULL DEFAULT 0,
    failures   smallint NOT NULL DEFAULT 0,
    crashes    smallint NOT NULL DEFAULT 0,
    marks      smallint NOT NULL DEFAULT 0,
    segment    smallint NOT NULL,
    state      smallint NOT NULL,
    paused     boolean NOT NULL
);
CREATE INDEX aside_expiring ON aside (expires_at, id) WHERE expires_at IS NOT NULL;

-- On offer. A claim merges the heads of the lanes of a queue: within one lane, (ready_at, id) is the order of rank. `lot` is 0,
-- or the hash of the gate the job stands before (see limits/): a claim does not look into the lots of gates that are shut.
CREATE TABLE ready (
    id         uuid PRIMARY KEY,
    ready_at   bigint NOT NULL,
    lot        bigint NOT NULL DEFAULT 0,
    expires_at bigint,
    queue      integer NOT NULL,
    lane       smallint NOT NULL,
    attempts   smallint NOT NULL DEFAULT 0,
    failures   smallint NOT NULL DEFAULT 0,
    crashes    smallint NOT NULL DEFAULT 0,
    marks      smallint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ready_in_order ON ready (queue, lot, lane DESC, ready_at, id);
CREATE INDEX ready_expiring ON ready (expires_at, id) WHERE expires_at IS NOT NULL;

-- Held. The tally counts the running attempt.
CREATE TABLE leases (
    id           uuid PRIMARY KEY,
    fence        bigint NOT NULL,
    worker       uuid NOT NULL,
    claimed_at   bigint NOT NULL,
    ready_at     bigint NOT NULL,
    timeout_at   bigint,
    started_at   bigint,
    -- Taken back for this cause from its worker, who knew it by this fence. The reclaimer holds it.
    taken_fence  bigint,
    queue        integer NOT NULL,
    lane         smallint NOT NULL,
    attempts     smallint NOT NULL,
    failures     smallint NOT NULL,
    crashes      smallint NOT NULL,
    marks        smallint NOT NULL,
    taken_cause  smallint,
    cancel_asked text
) WITH (fillfactor = 80,
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX leases_by_worker ON leases (worker);
CREATE INDEX leases_by_timeout ON leases (timeout_at, id) WHERE timeout_at IS NOT NULL;

-- Jobs that are over, each with its last attempt (attempt is NULL if it was never tried, or its last attempt did not end it).
CREATE TABLE ended (
    id             uuid NOT NULL,
    ended_at       bigint NOT NULL,
    ready_at       bigint NOT NULL,
    queue          integer NOT NULL,
    state          smallint NOT NULL,
    attempts       smallint NOT NULL,
    failures       smallint NOT NULL,
    crashes        smallint NOT NULL,
    marks          smallint NOT NULL,
    outcome        smallint,
    attempt        smallint,
    fence          bigint,
    started_at     bigint,
    worker         uuid,
    result         text,
    reason         text,
    -- The last error of the job; that of its last attempt if `outcome` is one that has an error.
    error_message  text,
    error_kind     text,
    error_detail   text,
    -- Only of a dead one: it may be revived.
    checkpoint     text,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE TABLE ended_default PARTITION OF ended DEFAULT;
CREATE INDEX ended_dead ON ended (id) WHERE state = 5;
-- Only here are rows forgotten one by one; the other partitions are dropped whole.
CREATE INDEX ended_default_in_order ON ended_default (ended_at, id) WHERE state <> 5;
CREATE INDEX ended_default_dead_in_order ON ended_default (ended_at, id) WHERE state = 5;

-- Attempts that are over, apart from the last one of a job that ended. Later attempts have higher fences.
CREATE TABLE executions (
    job           uuid NOT NULL,
    fence         bigint NOT NULL,
    started_at    bigint NOT NULL,
    ended_at      bigint NOT NULL,
    worker        uuid NOT NULL,
    attempt       smallint NOT NULL,
    outcome       smallint NOT NULL,
    error_message text,
    error_kind    text,
    error_detail  text,
    PRIMARY KEY (job, fence)
) PARTITION BY RANGE (job);
CREATE TABLE executions_default PARTITION OF executions DEFAULT;

-- What idempotency keys made.
CREATE TABLE keys (
    tenant      text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    job         uuid NOT NULL,
    fingerprint bytea NOT NULL,
    until       bigint NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX keys_until ON keys (until, tenant, key);

-- Which child still waits for which parent. Every open edge has a Blocked child in `aside`.
CREATE TABLE edges (
    parent     uuid NOT NULL,
    child      uuid NOT NULL,
    on_failure smallint NOT NULL,
    PRIMARY KEY (parent, child)
);
CREATE INDEX edges_of_child ON edges (child);

-- Parents that ended while others waited for them, and how. Promote goes on with the children.
CREATE TABLE releases (
    parent uuid PRIMARY KEY,
    state  smallint NOT NULL
);

-- Workflows of which at least one job is here. The counts are of steps, kept as they move.
CREATE TABLE workflows (
    tenant         text COLLATE "C" NOT NULL,
    id             uuid NOT NULL,
    submitted_at   bigint NOT NULL,
    callback       uuid,
    -- The callback is still Blocked, paused or not.
    callback_waits boolean NOT NULL DEFAULT false,
    -- Steps and callback that are still known.
    members        integer NOT NULL DEFAULT 0,
    blocked        integer NOT NULL DEFAULT 0,
    waiting        integer NOT NULL DEFAULT 0,
    ready          integer NOT NULL DEFAULT 0,
    paused         integer NOT NULL DEFAULT 0,
    running        integer NOT NULL DEFAULT 0,
    succeeded      integer NOT NULL DEFAULT 0,
    dead           integer NOT NULL DEFAULT 0,
    cancelled      integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id)
) WITH (fillfactor = 50);
CREATE INDEX workflows_with_free_callback ON workflows (tenant, id)
    WHERE callback_waits AND blocked + waiting + ready + paused + running = 0;

CREATE TABLE workers (
    id            uuid PRIMARY KEY,
    tenant        text COLLATE "C" NOT NULL,
    lease_ms      bigint NOT NULL,
    registered_at bigint NOT NULL,
    last_seen_at  bigint NOT NULL,
    -- 0: it has left for good.
    expires_at    bigint NOT NULL,
    "order"       smallint NOT NULL DEFAULT 0,
    concurrency   bigint NOT NULL DEFAULT 0,
    pid           bigint,
    name          text,
    host          text,
    version       text,
    queues        text[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- What a person said of a schedule, apart from what has happened since, which is written again at every turn.
CREATE TABLE schedules (
    tenant text COLLATE "C" NOT NULL,
    name   text COLLATE "C" NOT NULL,
    spec   bytea NOT NULL,
    PRIMARY KEY (tenant, name)
);
CREATE TABLE standings (
    tenant   text COLLATE "C" NOT NULL,
    name     text COLLATE "C" NOT NULL,
    version  bigint NOT NULL,
    segment  smallint NOT NULL,
    -- core schedule::place_of: what is due at one instant is turned in this order
    place    integer NOT NULL,
    wake_at  bigint,
    standing bytea NOT NULL,
    PRIMARY KEY (tenant, name)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX standings_in_order ON standings (wake_at, place, tenant, name) WHERE wake_at IS NOT NULL;

-- What became of every occurrence. Cut by when it was decided; spans past their retention are dropped.
CREATE TABLE ledger (
    tenant     text COLLATE "C" NOT NULL,
    schedule   text COLLATE "C" NOT NULL,
    occurrence bigint NOT NULL,
    version    bigint NOT NULL,
    index      integer NOT NULL,
    at         bigint NOT NULL,
    row        bytea NOT NULL,
    PRIMARY KEY (tenant, schedule, occurrence, version, index, at)
) PARTITION BY RANGE (at);
CREATE TABLE ledger_default PARTITION OF ledger DEFAULT;
CREATE INDEX ledger_default_in_order ON ledger_default (at, tenant, schedule, occurrence, version, index);

-- What people set for gates: reach as core Reach::text writes it.
CREATE TABLE rules (
    tenant text COLLATE "C" NOT NULL,
    reach  text COLLATE "C" NOT NULL,
    rule   bytea NOT NULL,
    PRIMARY KEY (tenant, reach)
);

-- Gates that a rule holds at and somebody has entered, and gates that are closed. `running` is kept only while a rule holds
-- there; without one it is counted from the leases when somebody asks. See limits/.
CREATE TABLE gates (
    tenant       text COLLATE "C" NOT NULL,
    -- as core GateName::text writes it
    gate         text COLLATE "C" NOT NULL,
    running      bigint NOT NULL DEFAULT 0,
    -- When time alone may let the next one in; promote tells those who wait.
    opens_at     bigint,
    -- core GateState without `running`
    state        bytea NOT NULL,
    PRIMARY KEY (tenant, gate)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX gates_opening ON gates (opens_at) WHERE opens_at IS NOT NULL;

-- Which node may act in whose name. seat: -1 the leader, else the segment.
CREATE TABLE seats (
    seat   smallint PRIMARY KEY,
    holder uuid NOT NULL,
    epoch  bigint NOT NULL,
    -- Zero if its holder gave it up and nobody has taken it since.
    until  bigint NOT NULL
) WITH (fillfactor = 50);

-- Who is to have which segment, as the leader wrote it down.
CREATE TABLE assigned (
    segment smallint PRIMARY KEY,
    node    uuid NOT NULL
);

-- What nodes say of themselves.
CREATE TABLE nodes (
    id         uuid PRIMARY KEY,
    address    text,
    -- core Roles::bits
    roles      smallint NOT NULL,
    version    text NOT NULL,
    protocol   integer NOT NULL,
    segments   smallint NOT NULL,
    -- 64 bits without a sign, as they are
    shards     bigint NOT NULL,
    started_at bigint NOT NULL,
    skew_ms    bigint,
    willing    boolean NOT NULL,
    seen_at    bigint NOT NULL,
    until      bigint NOT NULL
) WITH (fillfactor = 50);

-- Raises serialization_failure if a statement did not change as many rows as it was to: somebody else was faster between our
-- reading and our writing, and the transaction must be done again from the start.
CREATE FUNCTION must_be(expected bigint, changed bigint) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF expected <> changed THEN
        RAISE EXCEPTION 'expected to change % rows, changed %', expected, changed USING ERRCODE = 'serialization_failure';
    END IF;
END $$;
