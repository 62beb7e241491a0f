import { type Clock, type Store, type StoredAnswer, ToolError } from '@tool-hub/core'
import { deepFreeze, escapeLine } from '@tool-hub/core/lib'

/** What every request to a person has, whether it is an approval or a question. */
export interface PendingRequest {
  readonly id: string
  readonly callId: string
  readonly run: string
  readonly tool: string
  readonly caller: string
  /** The authenticated caller, where the hub serves several. */
  readonly principal?: string
  readonly askedAt: string
  readonly expiresAt: string
}

/** Who answers, and by which way. */
export interface Answerer {
  readonly by?: string
  readonly via?: string
}

/** Why a request ended without a usable answer. */
type RequestEnd =
  | { readonly type: 'unavailable'; readonly why: string; readonly cause?: unknown }
  | { readonly type: 'responder-failed'; readonly cause: unknown }
  | { readonly type: 'invalid-answer'; readonly cause: unknown }
  | { readonly type: 'timeout' }
  | { readonly type: 'aborted'; readonly signal: AbortSignal }
  /** The call ended, but its request still waits: the same call, made again, uses the answer. */
  | { readonly type: 'left' }

/** What an answer is checked against. */
type AnswerTarget = Pick<PendingRequest, 'tool' | 'principal'> & {
  readonly form?: Readonly<Record<string, unknown>>
}

/** What differs between approvals and questions: how answers are read and stored, and how a request fails. */
export interface ApprovalKind<Request, Answer extends Answerer> {
  readonly kind: 'approval' | 'question'
  /** Reads an answer from outside; throws if it is not one. */
  readonly parse: (given: unknown, answerer?: Answerer) => Answer
  /** Validates an answer before it is stored. */
  readonly check?: (answer: Answer, target: AnswerTarget) => Promise<void>
  /** Throws if this answer must not be taken for this request. */
  readonly assertFits: (answer: Answer, target: AnswerTarget) => void
  readonly encode: (answer: Answer) => Omit<StoredAnswer, 'at'>
  /** The error of a call whose answer is a no. */
  readonly refusal?: (answer: Answer, request: Request) => ToolError | undefined
  /** The error of a call that got no answer. */
  readonly explain: (request: Request, end: RequestEnd) => unknown
}

/** What approvals use of a store. */
export type QueueStore = Pick<Store, 'approvals' | 'slots' | 'events'>

/** Code that answers for a person; returns `undefined` to leave the answer to others. */
export type Responder<Request> = (request: Request) => unknown

/** What a queue is made of. */
export interface QueueOptions<Request> {
  readonly store: QueueStore
  readonly clock: Clock
  /** Requests wait even if only another process can answer. Default: false. */
  readonly waitsInStore?: boolean
  /** Requests that wait when the queue is closed stay in the store for the next hub. Default: false. */
  readonly outlives?: boolean
  /** Id of this process among those that share the store. Default: no other machine uses the store. */
  readonly process?: string
  /** The owner's code, which is asked last. */
  readonly responder?: Responder<Request>
}

/** How one request is to be answered. */
export interface RequestOptions<Request, Answer> {
  /** Binds the answer: the same call made again has the same hash. */
  readonly hash: string
  /** Code that answers for a person, asked one after the other until one answers. */
  readonly responders?: ReadonlyArray<Responder<Request> | undefined>
  /** Called when other processes can see the request, before anybody is asked. */
  readonly onRequested?: () => void
  /** The request is in the store already. */
  readonly isAdopted?: boolean
  /** Checks an answer before it is taken; one that is refused changes nothing. */
  readonly check?: (answer: Answer) => Promise<void>
}

/** What to do when a call ended and its request still waits. */
export function repeatCallHint({ id }: Pick<PendingRequest, 'id'>): string {
  return `${id} still waits for an answer. Repeat the same call: it continues to wait, or uses the answer.`
}

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
