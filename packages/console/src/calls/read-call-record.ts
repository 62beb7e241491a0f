import type { RecordLine } from '../api/types.ts'

/** A request for the approval of a call, and its answer. */
export interface RecordedApproval {
  readonly id: string
  readonly askedAt?: string
  readonly reason?: string
  readonly answer?: {
    readonly decision: string
    readonly at: string
    readonly by?: string
    readonly via?: string
    readonly remember?: string
    readonly covers?: string
    readonly reason?: string
    readonly isChanged: boolean
  }
}

/** The record of a call, combined from its lines. */
export interface CallRecord {
  readonly args?: unknown
  readonly argsBytes?: number
  readonly purpose?: string
  /** The name that the model used, if it differs. */
  readonly wire?: string
  readonly session?: string
  /** The transport of the call. */
  readonly via?: string
  /** The place in a model's script that made the call. */
  readonly script?: { readonly id: string; readonly line?: number }
  readonly sandbox?: string
  readonly isDryRun: boolean
  readonly approvals: readonly RecordedApproval[]
  /** Who answered too late. */
  readonly lateAnswers: readonly string[]
  readonly bytes?: number
  /** What the call returned, shortened; absent if it is not on record. */
  readonly output?: string
  readonly attempts?: number
  readonly isCached: boolean
  readonly isAbandoned: boolean
  readonly labels: readonly string[]
  readonly notices: readonly string[]
  readonly evidence: readonly string[]
  readonly artifacts: readonly string[]
  readonly changedPaths: readonly string[]
  /** All other lines: connections, processes, late ends. */
  readonly events: readonly RecordLine[]
  readonly error?: { readonly code: string; readonly message: string }
}

const OWN_FIELDS = new Set([
  'call-started',
  'call-ended',
  'call-output',
  'approval-requested',
  'approval-answered',
  'answer-refused',
  'file-changing',
])

/** Reads the lines of a call. Other programs can write to the files, so every value is checked. */
export function readCallRecord(lines: readonly RecordLine[]): CallRecord {
  const started = lines.find(({ type }) => type === 'call-started')
  const ended = lines.findLast(({ type }) => type === 'call-ended')
  // The end repeats the facts only if the start is missing.
  const facts = started ?? ended
  const { code, message } = (ended?.error ?? {}) as Record<string, unknown>
  return {
    args: facts?.args,
    argsBytes: numberOf(facts?.argsBytes),
    purpose: textOf(facts?.purpose),
    wire: textOf(facts?.wire),
    session: textOf(facts?.session),
    via: textOf(facts?.via),
    script: scriptIn(facts?.script),
    sandbox: textOf(facts?.sandbox),
    isDryRun: facts?.dryRun === true,
    approvals: approvalsIn(lines),
    lateAnswers: textsOf(lines.filter(({ type }) => type === 'answer-refused').map(({ by }) => by)),
    bytes: numberOf(ended?.bytes),
    output: textOf(lines.findLast(({ type }) => type === 'call-output')?.text),
    attempts: numberOf(ended?.attempts),
    isCached: ended?.cached === true,
    isAbandoned: ended?.abandoned === true,
    labels: textsOf(ended?.labels),
    notices: textsOf(ended?.notices),
    evidence: textsOf(ended?.evidence),
    artifacts: textsOf(ended?.artifacts),
    changedPaths: textsOf(lines.filter(({ type }) => type === 'file-changing').map(({ path }) => path)),
    events: lines.filter(({ type }) => !OWN_FIELDS.has(type)),
    ...(typeof code === 'string' && { error: { code, message: textOf(message) ?? '' } }),
  }
}

function approvalsIn(lines: readonly RecordLine[]): RecordedApproval[] {
  const asked = new Map<string, RecordedApproval>()
  for (const line of lines) {
    const id = textOf(line.approval)
    if (id === undefined) continue
    const known = asked.get(id) ?? { id }
    if (line.type === 'approval-requested') asked.set(id, { ...known, askedAt: line.time, reason: textOf(line.reason) })
    if (line.type === 'approval-answered') asked.set(id, { ...known, answer: answerIn(line) })
  }
  return [...asked.values()]
}

function answerIn(line: RecordLine): RecordedApproval['answer'] {
  return {
    decision: textOf(line.decision) ?? 'unknown',
    at: line.time,
    by: textOf(line.by),
    via: textOf(line.via),
    remember: textOf(line.remember),
    covers: textOf(line.covers),
    reason: textOf(line.reason),
    isChanged: line.changed === true,
  }
}

function scriptIn(value: unknown): CallRecord['script'] {
  const { id, line } = (value ?? {}) as Record<string, unknown>
  return typeof id === 'string' ? { id, line: numberOf(line) } : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
