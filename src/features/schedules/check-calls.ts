import { type CallPort, type ErrorCode, ToolError } from '../../core/index.ts'
import { newSchedule } from './schedule-schema.ts'

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
