import { type CallPort, type ErrorCode, type Rights, ToolError } from '../../core/index.ts'
import { newSchedule } from './schema.ts'
import type { StoredSchedule, StoredScheduleRun } from './schedule-store.ts'
import type { Timing } from './times.ts'
import type { MissedPolicy, OverlapPolicy, Schedule, ScheduledCall, ScheduleRun, When } from './types.ts'

/** What a schedule does, when, and with which rights: the body of its row. */
export interface Definition extends Timing {
  readonly when: When
  readonly calls: readonly ScheduledCall[]
  readonly continueOnError: boolean
  readonly missed: MissedPolicy
  readonly overlap: OverlapPolicy
  readonly jitterMs: number
  readonly timeoutMs: number
  readonly maxRuns?: number
  /** Captured from whoever said what is called; looked at again whenever it runs. */
  readonly rights: Rights
  readonly createdBy: Schedule['createdBy']
}

/** A schedule as the parts of this ability hand it to each other. */
export interface KnownSchedule {
  readonly row: StoredSchedule
  readonly definition: Definition
}

/** Names that begin so are written in the config; nobody else can use the colon. */
export const FROM_CONFIG = 'config:'

/** The row with its body read; the store is ours, and so is what is in it. */
export function toKnown(row: StoredSchedule): KnownSchedule {
  return { row, definition: JSON.parse(row.body) as Definition }
}

/** As its owner sees it. */
export function toView({ row, definition }: KnownSchedule): Schedule {
  const { since: _, until, rights: __, ...shown } = definition
  const { principal, reason, nextAt, lastAt, lastStatus } = row
  return {
    id: row.id,
    name: row.name,
    ...(principal !== '' && { principal }),
    ...shown,
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    enabled: row.state === 'on',
    ...(reason !== undefined && { disabledBecause: reason }),
    isFromConfig: row.name.startsWith(FROM_CONFIG),
    createdAt: row.createdAt,
    ...(nextAt !== undefined && { nextAt }),
    ...(lastAt !== undefined && { lastAt }),
    ...(lastStatus !== undefined && { lastStatus }),
    runs: row.runs,
  }
}

/** The same for one of its runs. */
export function toRunView({ owner: _, leasedUntil: __, ...run }: StoredScheduleRun): ScheduleRun {
  return run
}

/** What a call would fail with whenever it is made; anything else may be otherwise by then. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TOOL_NOT_FOUND',
  'TOOL_DISABLED',
  'INPUT_SCHEMA_INVALID',
  'POLICY_DENIED',
])

/** Tries the calls without making them: a mistake is told now, not at night. Says which of them a person will be asked about. */
export async function checkCalls(calls: unknown, door: CallPort, run?: string): Promise<void> {
  // What is no list of calls is told by whoever reads the schedule.
  const parsed = newSchedule.shape.calls.safeParse(calls)
  for (const [index, { tool, input = {} }] of (parsed.data ?? []).entries()) {
    const { ok, error } = await door.call(tool, input, { dryRun: true, ...(run !== undefined && { run }) })
    if (ok || !HOPELESS.has(error.code)) continue
    throw new ToolError(error.code, `Call ${index + 1} would fail: ${error.message}`, { fix: error.fix })
  }
}
