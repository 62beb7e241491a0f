import type { FeatureDefinition, IndexedCall, IndexedRun, RunDescription, Store } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import { type CallEntry, callEntry, type RecordLine, type RunEntry, type RunLaterList } from '@tool-hub/core/protocol'
import { features } from '@tool-hub/library/generated/list'
import { cutHead } from '@tool-hub/runtime/limits'
import { eventLines, parseEvent, type RecordEvent } from '@tool-hub/runtime/records/log'
import { z } from 'zod'

/** A call for display, with texts of models and tools escaped. */
export function toCallEntry(call: IndexedCall): CallEntry {
  const { callId, run, seq, tool, caller, principal, parent, status, startedAt, durationMs, attempts, targets } = call
  return {
    callId,
    run,
    seq,
    tool: escapeLine(tool),
    caller: escapeLine(caller),
    principal: shown(principal),
    parent,
    status: escapeLine(status),
    startedAt,
    durationMs,
    attempts,
    effect: effectOf(call),
    rule: shown(call.rule),
    error: shown(call.error),
    summary: shown(call.summary),
    request: shown(call.request),
    targets: targets?.map(escapeLine),
    approvedBy: shown(call.approvedBy),
  }
}

const MAX_GOAL_CHARS = 300

/** A run for display; without calls it belongs to the principal that it works for. */
export function toRunEntry(indexed: IndexedRun, description?: RunDescription): RunEntry {
  const { run, caller, startedAt, endedAt, calls, failures, denials } = indexed
  const { principal = description?.principal } = indexed
  return {
    run,
    caller: escapeLine(caller || (description?.principal ?? '')),
    principal: shown(principal),
    label: shown(description?.label),
    goal: shown(description?.goal && cutHead(description.goal, MAX_GOAL_CHARS)),
    startedAt,
    endedAt,
    calls,
    failures,
    denials,
  }
}

/** What the features know about a run; `undefined` if none knows it. */
export async function describeRun(run: string, store: Store): Promise<RunDescription | undefined> {
  for (const { inService } of features as readonly FeatureDefinition[]) {
    const description = await inService?.describeRun?.(run, store)
    if (description) return description
  }
  return undefined
}

function shown(text: string | undefined): string | undefined {
  return text === undefined ? undefined : escapeLine(text)
}

/** The index has any text; a record that was tampered with must not produce an invalid response. */
function effectOf({ effect }: IndexedCall): CallEntry['effect'] {
  return callEntry.shape.effect.safeParse(effect).data
}

const MAX_LINES = 1_000
const HEAD = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"([a-z-]{1,40})","callId":"([^"\\]{1,128})"/
const HEAD_BYTES = 320

/** Selects lines of a record by how they begin. */
export type LineFilter = (head: { readonly type: string; readonly callId: string }) => boolean

/** Returns the lines about calls that the filter selects, oldest first; at most 1,000. */
export async function readCallLines(folder: string, isWanted: LineFilter): Promise<RecordEvent[]> {
  const found: RecordEvent[] = []
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      // Reads the whole record, because approval requests come before the start of a call; only the beginning of each
      // line is checked.
      const [, type, callId] = HEAD.exec(line.bytes.toString('latin1', 0, HEAD_BYTES)) ?? []
      if (type === undefined || callId === undefined || !isWanted({ type, callId })) continue
      const event = parseEvent(line)
      if (event) found.push(event)
      if (found.length >= MAX_LINES) return found
    }
  }
  return found
}

const MAX_DEPTH = 32

/** A line of a record for display, with every text escaped. The export has the exact bytes. */
export function showLine(event: RecordEvent): RecordLine {
  return show(event, 0) as RecordLine
}

function show(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.map((item) => show(item, depth + 1))
  const entries = Object.entries(value).map(([key, item]) => [escapeText(key), show(item, depth + 1)] as const)
  return Object.fromEntries(entries)
}

const MAX_RUN_LATER = 100
const runLaterFiles = z.array(z.object({ path: z.string(), by: z.string() })).catch([])

/** The files that the lines of type `run-later-changed` name, each once, with the call that changed it last. */
export function toRunLaterList(lines: readonly RecordLine[]): RunLaterList {
  const files = new Map<string, RunLaterList['files'][number]>()
  for (const { files: changed, callId } of lines)
    for (const { path, by } of runLaterFiles.parse(changed)) files.set(path, { path, by, callId: String(callId) })
  return { files: [...files.values()].slice(0, MAX_RUN_LATER), isTruncated: files.size > MAX_RUN_LATER }
}
