import type { ScheduleRunStatus } from '../../contracts/schedules.ts'
import type { StoredSchedule, StoredScheduleRun } from '../../store-parts/schedules.ts'

/** A schedule in the file. */
export interface ScheduleRow {
  readonly id: string
  readonly principal: string
  readonly name: string
  readonly body: string
  readonly state: StoredSchedule['state']
  readonly reason: string | null
  readonly due_at: number | null
  readonly next_at: number | null
  readonly version: number
  readonly created_at: number
  readonly runs: number
  readonly last_at: number | null
  readonly last_status: ScheduleRunStatus | null
}

/** One of its runs. */
export interface RunRow {
  readonly id: string
  readonly schedule: string
  readonly seq: number
  readonly due_at: number
  readonly started_at: number | null
  readonly ended_at: number | null
  readonly status: ScheduleRunStatus
  readonly missed: number
  readonly run_id: string | null
  readonly summary: string | null
  readonly error: string | null
  readonly untrusted: number
  readonly owner: string
  readonly leased_until: number
}

export const SCHEDULE_COLUMNS =
  'id, principal, name, body, state, reason, due_at, next_at, version, created_at, runs, last_at, last_status'
export const RUN_COLUMNS =
  'id, schedule, seq, due_at, started_at, ended_at, status, missed, run_id, summary, error, untrusted, owner, leased_until'

/** The row as the domain names it. */
export function toSchedule(row: ScheduleRow): StoredSchedule {
  const { id, principal, name, body, state, version, runs } = row
  return {
    ...{ id, principal, name, body, state, version, runs, createdAt: row.created_at },
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.due_at !== null && { dueAt: row.due_at }),
    ...(row.next_at !== null && { nextAt: row.next_at }),
    ...(row.last_at !== null && { lastAt: row.last_at }),
    ...(row.last_status !== null && { lastStatus: row.last_status }),
  }
}

/** The same for a run. */
export function toRun(row: RunRow): StoredScheduleRun {
  const { id, schedule, seq, status, missed, owner } = row
  return {
    ...{ id, schedule, seq, status, missed, owner },
    dueAt: row.due_at,
    leasedUntil: row.leased_until,
    untrusted: row.untrusted === 1,
    ...(row.started_at !== null && { startedAt: row.started_at }),
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.run_id !== null && { runId: row.run_id }),
    ...(row.summary !== null && { summary: row.summary }),
    ...(row.error !== null && { error: row.error }),
  }
}
