import { isPlainObject } from '@tool-hub/core/lib'
import type { CallFacts, EventBody, RecordEvent } from '../../records/log/index.ts'

/** What was known in a run when one of its calls was decided, by its record. */
export interface RunMoment {
  /** The time of the first line of the call, in milliseconds. */
  readonly at: number
  /** Whether the run had read content from outside. */
  readonly isTainted: boolean
  /** What the user had said, oldest first: how each text begins, and how long it is. */
  readonly userTexts: readonly { readonly text: string; readonly chars: number }[]
  /** Whether there are lines before it that cannot be read: the user may have said more. */
  readonly isBroken: boolean
  /** The values that people had approved in this run, for as long as that holds. */
  readonly approvals: readonly ValueApproval[]
  /** The principal that called: what was approved for others does not count. */
  readonly principal?: string
  /** The session of the call: what was approved for another one does not count. */
  readonly session?: string
}

/** Values that a person has approved for the arguments of a tool. */
interface ValueApproval extends Pick<CallFacts, 'principal' | 'session'> {
  /** Canonical name of the tool. */
  readonly tool: string
  /** The arguments, and the SHA-256 of each value as canonical JSON. */
  readonly values: readonly { readonly argument: string; readonly hash: string }[]
  /** When it ended, in milliseconds; `session` if it ended with the session or the process. */
  readonly until: number | 'session'
}

type State = Omit<RunMoment, 'at' | 'principal' | 'session'>
type CallLine = Extract<RecordEvent, { readonly type: 'call-started' | 'call-ended' }>

const NOTED: ReadonlySet<string> = new Set<EventBody['type']>([
  'run-opened',
  'user-text-added',
  'command-tainted',
  'taint-cleared',
  'approval-requested',
  'approval-answered',
])
const TYPE = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"([a-z-]{1,40})"/
const TYPE_BYTES = 128
const LABEL = '"labels":["untrusted"'

/** Follows the lines of a record, and knows at each what its run knew. */
export class RunMoments {
  #state: State = { isTainted: false, userTexts: [], isBroken: false, approvals: [] }
  /** The calls that have asked, with what was known then: later words and values did not count for them. */
  readonly #asked = new Map<string, Pick<RunMoment, 'at'> & State>()
  /** Answers that cover values, until the facts of their call are read. */
  readonly #answers = new Map<string, Pick<ValueApproval, 'values' | 'until'>>()

  /** Whether a line matters to later calls, by its beginning; lines about calls matter if `isCallNoted` says so. */
  static isNoted(bytes: Buffer): boolean {
    const type = TYPE.exec(bytes.toString('latin1', 0, TYPE_BYTES))?.[1]
    return type === undefined ? bytes.length > 0 : NOTED.has(type)
  }

  /** Whether the line of a call matters to later calls. */
  isCallNoted(callId: string, bytes: Buffer): boolean {
    return this.#answers.has(callId) || bytes.includes(LABEL)
  }

  /** Takes a line; `undefined` is one that cannot be read. */
  add(event: RecordEvent | undefined): void {
    if (event === undefined || (event.type === 'user-text-added' && typeof event.text !== 'string')) {
      // It may have been the end of a call that read from outside.
      this.#change({ isBroken: true, isTainted: true })
      return
    }
    switch (event.type) {
      case 'user-text-added':
        // Words for one call prove nothing in others; without them its own decision is stricter.
        if (event.forCall !== undefined) break
        this.#change({ userTexts: [...this.#state.userTexts, { text: event.text, chars: event.chars }] })
        break
      case 'command-tainted':
        this.#change({ isTainted: true })
        break
      case 'taint-cleared':
        this.#change({ isTainted: false })
        break
      case 'run-opened':
        // Answers for a session are kept in memory.
        this.#change({ approvals: this.#state.approvals.filter(({ until }) => until !== 'session') })
        break
      case 'approval-requested':
        if (!this.#asked.has(event.callId))
          this.#asked.set(event.callId, { at: Date.parse(event.time), ...this.#state })
        break
      case 'approval-answered':
        if (event.decision === 'allow' && Array.isArray(event.values))
          this.#answers.set(event.callId, {
            values: event.values.filter((value): boolean => isPlainObject(value)),
            until: endOf(event.remember),
          })
        break
      case 'call-started':
      case 'call-ended':
        this.#addCall(event)
        break
    }
  }

  /** What was known when the call of this line was decided. Ask before the line is added. */
  of({ callId, time, tainted, principal, session }: CallLine): RunMoment {
    const then = this.#asked.get(callId) ?? { at: Date.parse(time), ...this.#state }
    return { ...then, isTainted: tainted === true || then.isTainted, principal, session }
  }

  #addCall(event: CallLine): void {
    const { callId, tool, principal, session } = event
    const answer = this.#answers.get(callId)
    // An end repeats the facts only if no start was recorded.
    if (answer && typeof event.caller === 'string') {
      this.#change({ approvals: [...this.#state.approvals, { tool, principal, session, ...answer }] })
      this.#answers.delete(callId)
    }
    if (event.type !== 'call-ended') return
    this.#asked.delete(callId)
    this.#answers.delete(callId)
    if (event.labels?.includes('untrusted')) this.#change({ isTainted: true })
  }

  #change(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change }
  }
}

/** Answers that hold until they are revoked are in the store: those that are not there have been revoked. */
function endOf(remember: string | undefined): ValueApproval['until'] {
  if (remember === 'session') return 'session'
  const end = Date.parse(/^until (.+)$/.exec(remember ?? '')?.[1] ?? '')
  return Number.isNaN(end) ? 0 : end
}
