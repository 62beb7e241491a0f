import { defineStore, run } from '@tool-hub/core/sql'
import {
  createProcesses,
  createRunStates,
  PROCESS_AGE_MS,
  PROCESSES,
  RUN_STATES,
  SETTINGS,
  settings,
} from './processes.ts'
import { BLOB_PARTS, BLOB_USES, BLOBS, blobs, SEGMENTS, segments, sweepBlobs } from './shared-records.ts'
import type { BlobStore, ProcessStore, RunStore, SegmentStore, SettingStore, WorkerCallStore } from './types.ts'
import { createWorkerCalls, WORKER_CALL_AGE_MS, WORKER_CALLS } from './worker-calls.ts'

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
  tables: [PROCESSES, RUN_STATES, SETTINGS, SEGMENTS, BLOBS, BLOB_PARTS, BLOB_USES, WORKER_CALLS],
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
