import { defineStore } from '../../core/sql/index.ts'
import { schedules } from './schedule-repository.ts'
import type { ScheduleStore } from './schedule-store.ts'

/** Runs of schedules are numbered by a counter, as events are. */
const TABLES = `
CREATE TABLE schedules (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  due_at BIGINT,
  next_at BIGINT,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  runs BIGINT NOT NULL,
  last_at BIGINT,
  last_status TEXT,
  UNIQUE (principal, name)
);
CREATE INDEX schedules_next ON schedules (next_at);
CREATE INDEX schedules_name ON schedules (name, principal);
CREATE TABLE schedule_runs (
  id TEXT PRIMARY KEY,
  schedule TEXT NOT NULL,
  seq BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  status TEXT NOT NULL,
  active INTEGER NOT NULL,
  missed BIGINT NOT NULL,
  run_id TEXT,
  summary TEXT,
  error TEXT,
  untrusted INTEGER NOT NULL,
  owner TEXT NOT NULL,
  leased_until BIGINT NOT NULL
);
CREATE INDEX schedule_runs_seq ON schedule_runs (schedule, seq);
CREATE INDEX schedule_runs_active ON schedule_runs (active, seq);
INSERT INTO counters (name, value) VALUES ('schedule-runs', 0);
`

/** Runs that have ended make room for new ones. */
const ENDED_RUNS = `SELECT id AS key FROM schedule_runs WHERE active = 0
 AND seq < (SELECT MAX(seq) FROM schedule_runs) ORDER BY seq LIMIT ?`

/** Scheduled calls, and their outcomes. */
export const schedulesStore = defineStore<{ schedules: ScheduleStore }>({
  repositories: { schedules },
  migrations: { 11: TABLES },
  // A schedule that fires is on disk before its calls are made, which must not happen twice.
  durable: { schedules: ['add', 'save', 'remove', 'fire', 'addRun', 'begin', 'end', 'takeOver'] },
  bounds: {
    schedules: [
      { table: 'schedules', methods: ['add'], what: 'schedules' },
      {
        table: 'schedule_runs',
        methods: ['fire', 'addRun'],
        what: 'runs of schedules',
        evict: { column: 'id', select: ENDED_RUNS },
      },
    ],
  },
})
