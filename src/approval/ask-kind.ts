import type { Ask, AskAnswer } from '../store.ts'

/** What every ask has, whatever it is about. */
export interface Asked {
  readonly id: string
  readonly callId: string
  readonly run: string
  readonly tool: string
  readonly caller: string
  /** Who calls for certain, where others come in by the same door. */
  readonly principal?: string
  readonly askedAt: string
  readonly expiresAt: string
}

/** An answer, and whose it is. */
export interface Reply<A> {
  readonly answer: A
  readonly by?: string
  readonly via?: string
}

/** What is special about one kind of ask: how its answers are read, and how it fails. */
export interface AskKind<Q extends Asked, A> {
  readonly kind: Ask['kind']
  /** An answer from outside; throws when it is none. */
  readonly read: (answer: unknown, request: Q) => Reply<A>
  /** An answer as the store keeps it, and back. */
  readonly encode: (reply: Reply<A>) => Omit<AskAnswer, 'at'>
  readonly decode: (answer: AskAnswer, request: Q) => Reply<A>
  readonly unavailable: (request: Q, why: string, cause?: unknown) => unknown
  /** One who answers in code has thrown. */
  readonly failed: (request: Q, cause: unknown) => unknown
  readonly nonsense: (request: Q, cause: unknown) => unknown
  readonly timedOut: (request: Q) => unknown
  readonly aborted: (request: Q, signal: AbortSignal) => unknown
  /** The caller is gone, or the hub is closed; the ask continues without it. */
  readonly leftBehind: (request: Q) => unknown
}

/** How one ask is to be answered. */
export interface AskWays<Q, A> {
  /** Binds the answer: the same call made again has the same. */
  readonly hash: string
  /** Those who stand for a person in code, asked one after the other until one answers. */
  readonly inCode: ReadonlyArray<(request: Q) => unknown>
  /** Told before anybody is asked, when other processes can see it. */
  readonly onAsked?: () => void
  /** The ask is in the store already. */
  readonly isAdopted?: boolean
  /** Looks at an answer before it is taken; one that is refused changes nothing. */
  readonly check?: (answer: A) => Promise<void>
}
