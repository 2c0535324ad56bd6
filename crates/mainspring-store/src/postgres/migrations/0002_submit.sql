-- Lets an application submit a job inside of its own transaction: the job is there if the transaction commits, and never was
-- if it does not.
--
--   SELECT mainspring.submit('send_mail', '{"to": "somebody"}', queue => 'mail');
--
-- Runs with the rights of whoever migrated, so an application needs USAGE on the schema and nothing else. The clock is the
-- server's, because no node is asked. What is refused raises invalid_parameter_value with the name of the parameter; a full queue
-- raises configuration_limit_exceeded. Numbers are those of core limits.rs; a test compares them.
CREATE FUNCTION submit(
    type            text,
    data            jsonb DEFAULT 'null',
    queue           text DEFAULT 'default',
    tenant          text DEFAULT 'default',
    run_at          timestamptz DEFAULT NULL,
    priority        integer DEFAULT 5,
    max_attempts    integer DEFAULT 3,
    timeout         interval DEFAULT NULL,
    expires_at      timestamptz DEFAULT NULL,
    tags            text[] DEFAULT '{}',
    idempotency_key text DEFAULT NULL,
    concurrency_key text DEFAULT NULL,
    rate_key        text DEFAULT NULL,
    weight          integer DEFAULT 1
) RETURNS uuid
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = mainspring, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    control    CONSTANT text := '[\u0001-\u001f\u007f-\u009f]';
    word       CONSTANT text := '^[A-Za-z0-9._:/-]{1,128}$';
    words      CONSTANT text := 'has 1 to 128 letters, digits and . _ - : /';
    century_ms CONSTANT bigint := 3162240000000;
    day_ms     CONSTANT bigint := 86400000;
    now_ms     CONSTANT bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
    ready_ms   CONSTANT bigint := coalesce(ceil(extract(epoch FROM submit.run_at) * 1000), now_ms);
    expires_ms CONSTANT bigint := ceil(extract(epoch FROM submit.expires_at) * 1000);
    timeout_ms CONSTANT bigint := ceil(extract(epoch FROM submit.timeout) * 1000);
    is_due     CONSTANT boolean := ready_ms <= now_ms;
    bytes      bytea := uuid_send(gen_random_uuid());
    job_id     uuid;
    queue_id   integer;
    depth_max  bigint;
    print      bytea;
    made       record;
    extras     jsonb := '{}';
    marks      smallint := 0;
    tag        text;
    setting    text;
    submitted  integer;
    here       integer;
    shards     integer;
    home       integer;
    segment    integer;
BEGIN
    IF submit.type IS NULL OR submit.type !~ word THEN
        RAISE EXCEPTION 'type: a type %, this one is %', words, coalesce(quote_literal(submit.type), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF submit.queue IS NULL OR submit.queue !~ word THEN
        RAISE EXCEPTION 'queue: a queue %, this one is %', words, coalesce(quote_literal(submit.queue), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF submit.tenant IS NULL OR submit.tenant !~ word THEN
        RAISE EXCEPTION 'tenant: a tenant %, this one is %', words, coalesce(quote_literal(submit.tenant), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF submit.data IS NULL OR octet_length(submit.data::text) > 262144 THEN
        RAISE EXCEPTION 'data: has at most 262144 bytes, this has %', octet_length(submit.data::text)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Keep large things elsewhere, and their address in the job.';
    ELSIF submit.priority IS NULL OR submit.priority NOT BETWEEN -1000 AND 1000 THEN
        RAISE EXCEPTION 'priority: is from -1000 to 1000, not %', submit.priority USING ERRCODE = 'invalid_parameter_value';
    ELSIF submit.max_attempts IS NULL OR submit.max_attempts NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'max_attempts: is from 1 to 1000, not %', submit.max_attempts
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF submit.weight IS NULL OR submit.weight NOT BETWEEN 1 AND 65535 THEN
        RAISE EXCEPTION 'weight: is from 1 to 65535, not %', submit.weight USING ERRCODE = 'invalid_parameter_value';
    ELSIF ready_ms > now_ms + century_ms OR ready_ms < 0 THEN
        RAISE EXCEPTION 'run_at: % is too far off', submit.run_at USING ERRCODE = 'invalid_parameter_value';
    ELSIF expires_ms <= ready_ms OR expires_ms > now_ms + century_ms THEN
        RAISE EXCEPTION 'expires_at: must be after run_at and not too far off, not %', submit.expires_at
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF timeout_ms NOT BETWEEN 100 AND 30 * day_ms THEN
        RAISE EXCEPTION 'timeout: is from 100 ms to 30 days, not %', submit.timeout
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF cardinality(submit.tags) > 20 THEN
        RAISE EXCEPTION 'tags: a job has at most 20, not %', cardinality(submit.tags)
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF octet_length(submit.idempotency_key) NOT BETWEEN 1 AND 255 OR submit.idempotency_key ~ control THEN
        RAISE EXCEPTION 'idempotency_key: has 1 to 255 bytes of printable text' USING ERRCODE = 'invalid_parameter_value';
    ELSIF octet_length(submit.concurrency_key) NOT BETWEEN 1 AND 255 OR submit.concurrency_key ~ control THEN
        RAISE EXCEPTION 'concurrency_key: has 1 to 255 bytes of printable text' USING ERRCODE = 'invalid_parameter_value';
    ELSIF octet_length(submit.rate_key) NOT BETWEEN 1 AND 255 OR submit.rate_key ~ control THEN
        RAISE EXCEPTION 'rate_key: has 1 to 255 bytes of printable text' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOREACH tag IN ARRAY coalesce(submit.tags, '{}') LOOP
        IF tag IS NULL OR octet_length(tag) NOT BETWEEN 1 AND 128 OR tag ~ control THEN
            RAISE EXCEPTION 'tags: a tag has 1 to 128 bytes of printable text, this one is %',
                coalesce(quote_literal(tag), 'NULL') USING ERRCODE = 'invalid_parameter_value';
        END IF;
    END LOOP;

    -- Core Placement: of several databases, a tenant lives in one, and its jobs in the segments of that one.
    SELECT coalesce(charter.shard, 0), coalesce(charter.shards, 1) INTO here, shards FROM charter;
    home := ('x' || encode(substring(sha256(convert_to(submit.tenant, 'UTF8')) FROM 1 FOR 4), 'hex'))::bit(32)::bigint % shards;
    IF home <> here THEN
        RAISE EXCEPTION 'tenant: % lives in database % of %, this is database %',
            quote_literal(submit.tenant), home + 1, shards, here + 1
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Submit it there, or over HTTP to any node.';
    END IF;
    segment := here + shards * floor(random() * ((100 - here + shards - 1) / shards))::integer;

    -- A UUIDv7 as core JobId::mint makes it: its time, its segment, and chance in place of an order.
    bytes := overlay(bytes PLACING substring(int8send(now_ms) FROM 3) FROM 1 FOR 6);
    bytes := set_byte(bytes, 6, (get_byte(bytes, 6) & 15) | 112);
    bytes := set_byte(bytes, 15, (get_byte(bytes, 15) & 128) | segment);
    job_id := encode(bytes, 'hex')::uuid;

    IF submit.idempotency_key IS NOT NULL THEN
        print := decode(md5(jsonb_build_array(submit.type, submit.data, submit.queue, submit.run_at, submit.priority,
            submit.max_attempts, submit.timeout, submit.expires_at, submit.tags, submit.concurrency_key, submit.rate_key,
            submit.weight)::text), 'hex');
        -- Waits for whoever is just using the same key.
        INSERT INTO keys AS known (tenant, key, job, fingerprint, until)
        VALUES (submit.tenant, submit.idempotency_key, job_id, print, now_ms + day_ms)
        ON CONFLICT (tenant, key) DO UPDATE
            SET job = excluded.job, fingerprint = excluded.fingerprint, until = excluded.until
            WHERE known.until <= now_ms;
        SELECT keys.job, keys.fingerprint INTO made FROM keys
        WHERE keys.tenant = submit.tenant AND keys.key = submit.idempotency_key;
        IF made.job <> job_id AND made.fingerprint = print THEN
            RETURN made.job;
        ELSIF made.job <> job_id THEN
            RAISE EXCEPTION 'idempotency_key: % made job % from other words', quote_literal(submit.idempotency_key), made.job
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Use another key for another job.';
        END IF;
        extras := extras || jsonb_build_object('key', jsonb_build_object('key', submit.idempotency_key,
            'fingerprint', encode(print, 'hex')::uuid, 'until', now_ms + day_ms));
    END IF;
    IF cardinality(submit.tags) > 0 THEN
        extras := extras || jsonb_build_object('tags', to_jsonb(submit.tags));
    END IF;
    IF submit.concurrency_key IS NOT NULL OR submit.rate_key IS NOT NULL THEN
        marks := 16;
    END IF;

    LOOP
        SELECT queues.id, queues.max_depth INTO queue_id, depth_max FROM queues
        WHERE queues.tenant = submit.tenant AND queues.name = submit.queue;
        EXIT WHEN FOUND;
        IF (SELECT count(*) FROM queues) >= 100000 THEN
            RAISE EXCEPTION 'queue: there are 100000 queues, one more would be past the limit'
                USING ERRCODE = 'configuration_limit_exceeded';
        END IF;
        -- Others that make the same queue wait for our commit; it is made once.
        INSERT INTO queues (tenant, name) VALUES (submit.tenant, submit.queue) ON CONFLICT DO NOTHING;
    END LOOP;
    -- Not held: an application's transaction may last, and others must not wait for it. So transactions that submit at the
    -- same instant can go past the bound by what they bring.
    IF depth_max <= (SELECT coalesce(sum(counts.blocked + counts.waiting + counts.ready + counts.paused), 0) FROM counts
                     WHERE counts.queue = queue_id) THEN
        RAISE EXCEPTION 'queue: % holds % unfinished jobs and takes no more', quote_literal(submit.queue), depth_max
            USING ERRCODE = 'configuration_limit_exceeded', HINT = 'Try later.';
    END IF;

    INSERT INTO jobs (id, queue, priority, weight, submitted_at, run_at, max_attempts, expires_at, timeout_ms, kind,
        concurrency_key, rate_key, data, extras)
    VALUES (job_id, queue_id, submit.priority, submit.weight, now_ms, ready_ms, submit.max_attempts, expires_ms, timeout_ms,
        submit.type, submit.concurrency_key, submit.rate_key, submit.data::text, nullif(extras, '{}'));
    IF is_due THEN
        INSERT INTO ready (id, ready_at, expires_at, queue, lane, marks)
        VALUES (job_id, ready_ms, expires_ms, queue_id, submit.priority, marks);
        INSERT INTO counts (queue, ready) VALUES (queue_id, 1);
    ELSE
        INSERT INTO waiting (id, ready_at, expires_at, queue, lane, marks, segment)
        VALUES (job_id, ready_ms, expires_ms, queue_id, submit.priority, marks, segment);
        INSERT INTO counts (queue, waiting) VALUES (queue_id, 1);
    END IF;

    -- Heard at the commit. Of very many jobs in one transaction, every power of two is told, which is enough for all.
    IF NOT is_due THEN
        PERFORM pg_notify('mainspring', 'due ' || ready_ms);
    ELSE
        setting := 'mainspring.submitted_' || queue_id;
        submitted := coalesce(nullif(current_setting(setting, true), ''), '0')::integer + 1;
        PERFORM set_config(setting, submitted::text, true);
        IF submitted & (submitted - 1) = 0 THEN
            PERFORM pg_notify('mainspring', 'ready ' || submit.tenant || ' ' || submit.queue || ' ' || submitted);
        END IF;
    END IF;
    RETURN job_id;
END $$;
