import type { ResponseCache } from './response-cache.ts'

/** What the pipeline says about one call. */
export interface NetworkCall {
  /** Aborts when the call is stopped or its time is over. */
  readonly signal: () => AbortSignal
  /** The same for a request, without the cost of a signal: hears why the call was stopped; gives back how to end that. */
  readonly onStop?: (listener: (reason: unknown) => void) => () => void
  /** Most bytes of one response, as the deciding rule says. Default: the guard's own limit. */
  readonly maxBytes?: number
  /** Throws when policy did not decide on this URL; asked for every hop, `send` for those that may carry data out. */
  readonly permits?: (url: string, capability: 'network' | 'send') => void
  /** Waited for before the first byte of a request that may carry data out: the intent is on record. */
  readonly beforeSend?: () => Promise<void> | undefined
  /** An answer has arrived, of any hop or from the cache: from now on the call holds untrusted content. */
  readonly onAnswer?: () => void
  /** Called before a request is repeated. */
  readonly onRetry?: () => void
  /** Answers that this run got before. */
  readonly cache?: ResponseCache
  /** With both of these a POST is repeated, too, and carries the key. */
  readonly idempotencyKey?: string
  /** How often a request that sends data is repeated. Default: never. */
  readonly postRetries?: number
}
