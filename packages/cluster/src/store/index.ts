import { defineStore, run } from '@tool-hub/core/sql'
import { createProcesses, createRunStates, PROCESS_AGE_MS, settings } from './processes.ts'
import { blobs, segments, sweepBlobs } from './shared-records.ts'
import type { BlobStore, ProcessStore, RunStore, SegmentStore, SettingStore, WorkerCallStore } from './types.ts'
import { createWorkerCalls, WORKER_CALL_AGE_MS } from './worker-calls.ts'

/** Processes on many machines, the states of runs, and what all processes agree on. */
const PROCESSES = `
CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  address TEXT,
  host TEXT NOT NULL,
  pid BIGINT NOT NULL,
  version TEXT NOT NULL,
  labels TEXT NOT NULL,
  running BIGINT NOT NULL,
  concurrency BIGINT,
  draining INTEGER NOT NULL,
  policy TEXT,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);
CREATE TABLE run_states (
  run TEXT PRIMARY KEY,
  principal TEXT,
  owner TEXT,
  epoch BIGINT NOT NULL,
  leased_at BIGINT,
  tainted_by TEXT NOT NULL,
  was_cleared INTEGER NOT NULL
);
CREATE INDEX run_states_owner ON run_states (owner, leased_at);
CREATE TABLE cluster_settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
`

/**
 * Shared records: the head is in the row of the lease, so that one statement checks the lease, checks the chain and moves
 * the head. Content by its hash, in parts.
 */
const SHARED_RECORDS = `
ALTER TABLE run_states ADD COLUMN shared_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE run_states ADD COLUMN shared_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE run_states ADD COLUMN shared_epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE run_states ADD COLUMN shared_at BIGINT NOT NULL DEFAULT 0;
CREATE TABLE segments (
  run TEXT NOT NULL,
  first_seq BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  after_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  epoch BIGINT NOT NULL,
  lines TEXT,
  object TEXT,
  PRIMARY KEY (run, first_seq)
);
CREATE TABLE blobs (
  hash TEXT PRIMARY KEY,
  bytes BIGINT NOT NULL,
  upload TEXT NOT NULL,
  parts BIGINT NOT NULL,
  object TEXT,
  used_at BIGINT NOT NULL
);
CREATE INDEX blobs_use ON blobs (used_at);
CREATE INDEX blobs_upload ON blobs (upload);
CREATE TABLE blob_parts (
  upload TEXT NOT NULL,
  part BIGINT NOT NULL,
  content BYTEA NOT NULL,
  added_at BIGINT NOT NULL,
  PRIMARY KEY (upload, part)
);
CREATE INDEX blob_parts_age ON blob_parts (added_at);
CREATE TABLE blob_uses (
  run TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (run, hash)
);
CREATE INDEX blob_uses_hash ON blob_uses (hash);
`

/** Calls that workers execute. */
const WORKER_CALLS = `
CREATE TABLE worker_calls (
  id TEXT PRIMARY KEY,
  queue TEXT NOT NULL,
  run TEXT NOT NULL,
  owner TEXT,
  epoch BIGINT,
  state TEXT NOT NULL,
  worker TEXT,
  queued_at BIGINT NOT NULL,
  started_at BIGINT,
  result TEXT
);
CREATE INDEX worker_calls_queue ON worker_calls (queue, state, queued_at);
`

interface MachineParts {
  processes: ProcessStore
  runStates: RunStore
  settings: SettingStore
  segments: SegmentStore
  blobs: BlobStore
  workerCalls: WorkerCallStore
}

/** What the processes of many machines keep in the store that they share. */
export const machineStore = defineStore<MachineParts>({
  repositories: ({ time }) => ({
    processes: createProcesses(time),
    runStates: createRunStates(time),
    settings,
    segments,
    blobs,
    workerCalls: createWorkerCalls(time),
  }),
  migrations: { 20: PROCESSES, 21: SHARED_RECORDS, 22: WORKER_CALLS },
  durable: {
    runStates: ['lease', 'own', 'taint'],
    settings: ['secret'],
    segments: ['append', 'move'],
    blobs: ['addPart', 'add', 'use'],
    workerCalls: ['add', 'claim', 'finish'],
  },
  *sweep(now) {
    yield* run('DELETE FROM processes WHERE seen_at < ?', now - PROCESS_AGE_MS)
    yield* sweepBlobs(now)
    yield* run('DELETE FROM worker_calls WHERE queued_at < ?', now - WORKER_CALL_AGE_MS)
  },
  bounds: {
    processes: [{ table: 'processes', methods: ['beat'], what: 'processes' }],
    runStates: [{ table: 'run_states', methods: ['lease', 'own', 'taint'], what: 'states of runs' }],
    segments: [{ table: 'segments', methods: ['append'], what: 'segments of records' }],
    blobs: [
      { table: 'blob_parts', methods: ['addPart'], what: 'parts of artifacts' },
      { table: 'blobs', methods: ['add'], what: 'artifacts' },
      { table: 'blob_uses', methods: ['add', 'use'], what: 'uses of artifacts' },
    ],
    workerCalls: [{ table: 'worker_calls', methods: ['add'], what: 'calls for workers' }],
    settings: [{ table: 'cluster_settings', methods: ['secret'], what: 'settings' }],
  },
})
