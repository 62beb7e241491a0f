import type { Approval, ApprovalAnswer } from '../../api/types.ts'
import type { ToastOptions } from '../../components/toast.tsx'
import { formatDate } from '../../lib/format.ts'

/** How long an answer is remembered. */
export type RememberFor = 'once' | 'session' | 'always' | 'until'

/** The choice of what is remembered; `until` is the value of a date field. */
export interface RememberChoice {
  readonly remember: RememberFor
  readonly covers: 'exact' | 'targets' | 'pattern' | 'values'
  readonly until: string
}

const HOUR_MS = 3_600_000

/** The initial choice: nothing is remembered. The suggested time is an hour ahead. */
export function firstChoice(now: number): RememberChoice {
  return { remember: 'once', covers: 'exact', until: toLocalField(now + HOUR_MS) }
}

/** The choice as the API takes it. */
export function toAnswer({ remember, covers, until }: RememberChoice): Pick<ApprovalAnswer, 'remember' | 'covers'> {
  if (remember === 'once') return { remember }
  if (remember === 'until') return { remember: { until: new Date(until).toISOString() }, covers }
  return { remember, covers }
}

/** The problem of a choice. */
export function choiceProblem({ remember, until }: RememberChoice, now: number): string | undefined {
  if (remember !== 'until') return undefined
  const time = new Date(until).getTime()
  if (Number.isNaN(time)) return 'Choose a day and a time.'
  return time > now ? undefined : 'This time is in the past; choose a later one.'
}

/** How long the answer is remembered, as the end of a sentence. */
export function holdsFor({ remember, until }: RememberChoice): string {
  if (remember === 'session') return 'until the session or the run of the caller ends'
  if (remember === 'always') return 'until it is revoked'
  const date = new Date(until)
  return Number.isNaN(date.getTime()) ? 'until then' : `until ${formatDate(date)}`
}

function toLocalField(time: number): string {
  const date = new Date(time)
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The outcome of one of several answers. */
export interface SentAnswer {
  readonly id: string
  readonly tool: string
  readonly outcome: 'done' | 'late' | 'failed'
  /** Who answered first, or why it failed. */
  readonly words?: string
}

type Answered = Pick<Approval, 'id' | 'tool'>
type Send = (id: string) => Promise<{ readonly won: boolean; readonly approval: Pick<Approval, 'answered'> }>

/** Answers the calls one after the other; a failure does not stop the others. */
export async function answerEach(approvals: readonly Answered[], send: Send): Promise<SentAnswer[]> {
  const sent: SentAnswer[] = []
  for (const { id, tool } of new Map(approvals.map((each) => [each.id, each])).values()) {
    try {
      const { won, approval } = await send(id)
      const words = won ? undefined : lostWords(tool, approval.answered).title
      sent.push({ id, tool, outcome: won ? 'done' : 'late', ...(words !== undefined && { words }) })
    } catch (error) {
      sent.push({ id, tool, outcome: 'failed', words: error instanceof Error ? error.message : String(error) })
    }
  }
  return sent
}

/** The toast for an answer that was too late: who was first, and their decision. */
export function lostWords(tool: string, answered: Approval['answered']): ToastOptions {
  if (!answered) return { tone: 'warn', title: 'Too late', description: `${tool} no longer waits.` }
  const theirs = { allow: 'allowed', deny: 'denied' }[answered.decision ?? ''] ?? 'answered'
  return {
    tone: 'warn',
    title: `${answered.by} was first`,
    description: `${tool} was ${theirs} via ${answered.via}; your answer was ignored.`,
  }
}

/** A difference between two JSON values; undefined means absent. */
export interface JsonChange {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

const MAX_DEPTH = 20

/** The differences between two JSON values, by path (`edits[0].path`; '' is the whole value). */
export function listChanges(before: unknown, after: unknown, path = '', depth = 0): JsonChange[] {
  if (isSame(before, after)) return []
  if (depth >= MAX_DEPTH || !isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    return [{ path, before, after }]
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) =>
    listChanges(at(before, key), at(after, key), join(path, key, Array.isArray(before)), depth + 1),
  )
}

function isSame(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after)
}

function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function at(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

function join(path: string, key: string, isList: boolean): string {
  if (isList) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}
