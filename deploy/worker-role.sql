-- What the database user of workers may do: take jobs, claim calls and store their results. It can read no tokens,
-- approvals, grants, sessions or records, and of the keys only the one that signs jobs and results. Run it as the owner of
-- the tables (the user of the services), once after `tool-hub store migrate`, and again after each later one:
--   createuser --pwprompt tool_hub_worker
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file deploy/worker-role.sql
-- Then give the workers a URL with this user. The names are those of a store without `schema`; change them here otherwise.
BEGIN;

-- The key of jobs and results, in case no service has needed it yet.
INSERT INTO tool_hub.cluster_settings (name, value)
  VALUES ('workers', encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64'))
  ON CONFLICT (name) DO NOTHING;

REVOKE ALL ON ALL TABLES IN SCHEMA tool_hub, tool_hub_queue FROM tool_hub_worker;
REVOKE CREATE ON SCHEMA tool_hub, tool_hub_queue FROM tool_hub_worker;
GRANT USAGE ON SCHEMA tool_hub, tool_hub_queue TO tool_hub_worker;

-- Jobs can be taken and removed, not added or changed.
GRANT SELECT ON tool_hub_queue.version, tool_hub_queue.queue TO tool_hub_worker;
GRANT SELECT, DELETE, UPDATE (state, started_on, retry_count) ON tool_hub_queue.job TO tool_hub_worker;

-- Calls can be claimed and ended; whether somebody waits for them is in the other two tables.
GRANT SELECT (id, queue, run, owner, epoch, state, worker), UPDATE (state, worker, started_at, result)
  ON tool_hub.worker_calls TO tool_hub_worker;
GRANT SELECT (run, owner, epoch) ON tool_hub.run_states TO tool_hub_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON tool_hub.processes TO tool_hub_worker;

-- Large results, in parts.
GRANT INSERT, SELECT (upload, part) ON tool_hub.blob_parts TO tool_hub_worker;

-- Events of calls on workers, with the counter that numbers all events; and the check that the store can be written.
GRANT SELECT, INSERT ON tool_hub.events TO tool_hub_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON tool_hub.counters TO tool_hub_worker;

-- A hub lists saved scripts when it starts.
GRANT SELECT ON tool_hub.store_version, tool_hub.cluster_settings, tool_hub.saved_scripts TO tool_hub_worker;

-- Which rows of these tables are the workers'. The first policy of each table leaves everybody else as they were.
CREATE FUNCTION pg_temp.limit_worker(of TEXT, command TEXT, rows TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE tool_hub.%I ENABLE ROW LEVEL SECURITY', of);
  EXECUTE format('DROP POLICY IF EXISTS everybody ON tool_hub.%I', of);
  EXECUTE format('CREATE POLICY everybody ON tool_hub.%I USING (true) WITH CHECK (true)', of);
  EXECUTE format('DROP POLICY IF EXISTS %I ON tool_hub.%I', 'worker_' || lower(command), of);
  EXECUTE format('CREATE POLICY %I ON tool_hub.%I AS RESTRICTIVE FOR %s TO tool_hub_worker %s',
    'worker_' || lower(command), of, command,
    CASE WHEN command = 'INSERT' THEN '' ELSE 'USING (' || rows || ') ' END ||
    CASE WHEN command IN ('SELECT', 'DELETE') THEN '' ELSE 'WITH CHECK (' || rows || ')' END);
END $$;
SELECT pg_temp.limit_worker('cluster_settings', 'SELECT', $$name = 'workers'$$);
SELECT pg_temp.limit_worker('counters', 'ALL', $$name IN ('events', 'check')$$);
SELECT pg_temp.limit_worker('events', 'ALL', $$topic LIKE 'worker-%'$$);
SELECT pg_temp.limit_worker('blob_parts', 'ALL', $$upload LIKE 'worker/%'$$);
-- A worker starts as a library, and other processes reach neither of them.
SELECT pg_temp.limit_worker('processes', command, $$kind <> 'service' AND address IS NULL$$)
  FROM unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) AS command;

COMMIT;
