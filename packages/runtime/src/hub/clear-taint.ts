import { ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { isOwnCall } from '../approvals/index.ts'
import { eventLines, parseEvent, type RecordEvent, readTaintSync, type TaintCleared } from '../records/log/index.ts'
import type { OpenRun } from './open-run.ts'
import type { HubRuntime } from './runtime.ts'

/** Who clears the taint of a run, and why. */
export interface ClearTaintOptions {
  /** The approver, as the record names it. */
  readonly by: string
  /** Why the content from outside is harmless; at most 2,000 characters. */
  readonly reason: string
}

/** The taint that was cleared. */
export interface ClearedTaint extends ClearTaintOptions {
  /** Id of the run. */
  readonly run: string
  /** What had tainted it: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
  readonly sources: readonly string[]
  /** Whether the run has read more content from outside meanwhile, so that it is tainted again. */
  readonly isTainted: boolean
}

const HEAD_BYTES = 128
const MAX_CLEARED = 100
const MAX_BY_CHARS = 300
const MAX_REASON_CHARS = 2_000

/** Clears the taint of a run, on record. The checks and the record are one step: no call can read in between. */
export async function clearTaint(
  runtime: HubRuntime,
  id: string,
  { by, reason }: ClearTaintOptions,
): Promise<ClearedTaint> {
  const {
    runs,
    redactor,
    calls: { underWay },
  } = runtime
  const approver = textOf('by', by, MAX_BY_CHARS)
  const clearing = {
    by: redactor.text(approver),
    reason: redactor.text(textOf('reason', reason, MAX_REASON_CHARS)),
  }
  return runs.change(id, async (run) => {
    assertMayClear(run, approver)
    for (const call of underWay) {
      if (call.run !== id || !call.report.isUntrusted) continue
      throw new ToolError('CONFLICT', `Call ${call.id} of ${call.name} has read content from outside and still runs.`, {
        hint: `Clear the taint of run ${id} when the call has ended, and look at its result first.`,
      })
    }
    const sources = await run.clearTaint(clearing)
    return { run: id, ...clearing, sources, isTainted: run.tainted }
  })
}

/** What has tainted a run, by its folder, and the latest times that its taint was cleared, oldest first. */
export async function readTaint(folder: string): Promise<{
  readonly sources: readonly string[]
  readonly cleared: readonly (RecordEvent & TaintCleared)[]
}> {
  const { sources, wasCleared } = readTaintSync(folder)
  const cleared: (RecordEvent & TaintCleared)[] = []
  if (wasCleared)
    for await (const lines of eventLines(folder)) {
      for (const line of lines) {
        if (!line.bytes.toString('latin1', 0, HEAD_BYTES).includes('"type":"taint-cleared"')) continue
        const event = parseEvent(line)
        if (event?.type === 'taint-cleared') cleared.push(event)
      }
      cleared.splice(0, cleared.length - MAX_CLEARED)
    }
  return { sources, cleared }
}

function assertMayClear({ id, principal, tainted }: OpenRun, by: string): void {
  if (principal !== undefined && isOwnCall(principal, by))
    throw new ToolError('POLICY_DENIED', `Run ${id} is of ${escapeLine(by)}, who cannot clear its taint.`, {
      hint: 'Somebody else has to clear it.',
    })
  if (!tainted)
    throw new ToolError('CONFLICT', `Run ${id} is not tainted: it has read nothing from outside.`, {
      hint: 'There is nothing to clear.',
    })
}

function textOf(name: string, value: unknown, maxChars: number): string {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text !== '' && text.length <= maxChars) return text
  throw new ToolError('INPUT_SCHEMA_INVALID', `${name} must be a text of 1 to ${maxChars} characters.`, {
    hint: 'The record says who cleared the taint of a run, and why.',
  })
}
