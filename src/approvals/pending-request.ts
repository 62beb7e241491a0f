import { ToolError } from '../core/index.ts'
import { deepFreeze, escapeLine } from '../lib/index.ts'
import type { PendingRequest, RequestOptions, Responder } from './approval-kind.ts'

const MAX_STORED_CHARS = 1_000_000
const SHOWN_INPUT_CHARS = 200_000
/** Two calls with the largest input; a request that people read has a few thousand characters. */
const MAX_HELD_CHARS = 20_000_000

/** A request that waits in this process, and what is needed to end it. */
export class PendingEntry<Request extends PendingRequest, Answer> {
  /** A frozen copy, the same for everybody: nobody can change the call behind its hash. */
  readonly request: Request
  readonly options: RequestOptions<Request, Answer>
  /** The answer for the call that waits; `lost` if it went to another call. */
  readonly outcome: Promise<Answer | 'lost'>
  resolve!: (answer: Answer | 'lost') => void
  reject!: (error: unknown) => void
  /** No call waits: the answer is for the same call, made again. */
  isLeft: boolean
  /** Code that may still be asked. */
  responders: readonly Responder<Request>[]
  /** Whether the request is in the store, where other processes can see it. */
  stored: Promise<boolean> = Promise.resolve(false)
  /** Why it could not be stored. */
  problem: unknown
  /** The call has an answer, or has failed. */
  isOver = false
  readonly #cleanUps: (() => void)[] = []

  constructor(
    asked: Request,
    options: RequestOptions<Request, Answer>,
    { responders, isLeft }: { readonly responders: readonly Responder<Request>[]; readonly isLeft: boolean },
  ) {
    this.request = deepFreeze(structuredClone(asked))
    this.options = options
    this.responders = responders
    this.isLeft = isLeft
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    // Nobody waits for the outcome of a request that was left.
    this.outcome.catch(() => {})
  }

  onCleanUp(clean: () => void): void {
    this.#cleanUps.push(clean)
  }

  /** Stops its timer, and releases what is held for it. */
  cleanUp(): void {
    for (const clean of this.#cleanUps) clean()
  }
}

/**
 * The request as other processes read it. Arguments that are too long to be read are stored as their two ends, and the
 * reason says so.
 */
export function encodeRequest(request: PendingRequest): string {
  const json = JSON.stringify(request)
  if (json.length <= MAX_STORED_CHARS || !('input' in request)) return json
  const input = JSON.stringify(request.input) ?? ''
  const left = input.length - SHOWN_INPUT_CHARS
  if (left <= 0) return json
  const half = SHOWN_INPUT_CHARS / 2
  const ends = `${input.slice(0, half)} … ${left} characters in between are not shown … ${input.slice(-half)}`
  const warning = `WARNING: the arguments have ${input.length} characters, and ${left} in the middle of them are not shown.`
  const reason = 'reason' in request ? `${request.reason} ${warning}` : warning
  return JSON.stringify({ ...request, input: ends, reason })
}

/** Whether other processes would see only the ends of its arguments. */
export function isStoredInPart(request: PendingRequest): boolean {
  return JSON.stringify(request).length > MAX_STORED_CHARS
}

/** Limits how many characters of pending requests this process holds for each principal. */
export class RequestQuota {
  readonly #chars = new Map<string, number>()

  /** Reserves the size of one request; throws RATE_LIMITED if it does not fit. Returns a function that releases it. */
  reserve(principal: string, chars: number): () => void {
    const before = this.#chars.get(principal) ?? 0
    const all = before + chars
    if (before > 0 && all > MAX_HELD_CHARS) throw tooLarge(principal, all)
    this.#chars.set(principal, all)
    return () => {
      const left = this.#chars.get(principal)! - chars
      if (left > 0) this.#chars.set(principal, left)
      else this.#chars.delete(principal)
    }
  }
}

function tooLarge(principal: string, chars: number): ToolError {
  const who = escapeLine(principal).slice(0, 200)
  const message = `The pending requests of ${who} would have ${chars} characters; the limit is ${MAX_HELD_CHARS}.`
  return new ToolError('RATE_LIMITED', message, {
    hint: 'Wait until people have answered some of it, or make calls with smaller arguments.',
  })
}
