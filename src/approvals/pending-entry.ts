import { deepFreeze } from '../lib/index.ts'
import type { PendingRequest, RequestOptions, Responder } from './approval-kind.ts'

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
