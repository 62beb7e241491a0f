import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.ts'
import { ToolError } from '../errors.ts'
import { sha256 } from '../value/hash.ts'

/**
 * What a claimed key means for the call: execute and `finish` it (`undefined`: nothing was executed, forget the key),
 * wait for the same call that is under way (`undefined`: it was not executed, claim again), or use what it gave.
 */
export type Claim<R> =
  | { readonly kind: 'new'; finish(result: R | undefined): void }
  | { readonly kind: 'join'; readonly result: Promise<R | undefined> }
  | { readonly kind: 'replay'; readonly result: R }

/** How much is remembered, and how long. */
interface IdempotencyOptions<R> {
  /** 10,000 unless said. */
  readonly maxEntries?: number
  /** Of all results together; 64 MB unless said. */
  readonly maxBytes?: number
  /** A larger result is not kept: its key stays, and a repeated call gets CONFLICT; 1 MB unless said. */
  readonly maxResultBytes?: number
  /** One hour unless said. */
  readonly ttlMs?: number
  /** The size of a result; the length of its JSON unless said. */
  readonly bytesOf?: (result: R) => number
}

interface Running<R> {
  readonly argsHash: string
  promise?: Promise<R | undefined>
  resolve?: (result: R | undefined) => void
}

interface Finished<R> {
  readonly argsHash: string
  readonly expiresAt: number
  /** Absent when it was too large to keep. */
  readonly kept?: { readonly result: R }
}

const LONGEST_KEY = 512
const MEGABYTE = 1024 * 1024

/** Executes a call at most once per key: calls under way are joined, finished ones replayed. Only those are evicted. */
export class Idempotency<R> {
  readonly #running = new Map<string, Running<R>>()
  readonly #bounds: { readonly max: number; readonly maxSize: number }
  /** Made with the first end of a call: it reserves room for all entries at once. */
  #finished: LRUCache<string, Finished<R>> | undefined
  readonly #ttlMs: number
  readonly #maxResultBytes: number
  readonly #bytesOf: (result: R) => number
  readonly #clock: Clock

  constructor(options: IdempotencyOptions<R>, clock: Clock) {
    const { maxEntries = 10_000, maxBytes = 64 * MEGABYTE, maxResultBytes = MEGABYTE } = options
    this.#clock = clock
    this.#ttlMs = options.ttlMs ?? 3_600_000
    this.#maxResultBytes = Math.min(maxResultBytes, maxBytes)
    this.#bytesOf = options.bytesOf ?? jsonChars
    this.#bounds = { max: maxEntries, maxSize: maxBytes }
  }

  /** Says what the key means for a call with these arguments; other arguments under a known key are a CONFLICT. */
  claim(key: string, argsHash: string): Claim<R> {
    const running = this.#running.get(key)
    if (running) return join(key, argsHash, running)
    const finished = this.#finished?.get(key)
    if (finished && finished.expiresAt > this.#clock.now()) return replay(key, argsHash, finished)
    return this.#start(key, argsHash)
  }

  #start(key: string, argsHash: string): Claim<R> {
    if (key.length === 0 || key.length > LONGEST_KEY) throw badKey(key)
    const running: Running<R> = { argsHash }
    this.#running.set(key, running)
    return {
      kind: 'new',
      finish: (result) => {
        if (this.#running.get(key) !== running) return
        this.#running.delete(key)
        if (result !== undefined) this.#keep(key, argsHash, result)
        running.resolve?.(result)
      },
    }
  }

  #keep(key: string, argsHash: string, result: R): void {
    const bytes = this.#bytesOf(result)
    const isKept = bytes <= this.#maxResultBytes
    const expiresAt = this.#clock.now() + this.#ttlMs
    this.#finished ??= new LRUCache(this.#bounds)
    const size = isKept ? Math.max(1, Math.ceil(bytes)) : 1
    this.#finished.set(key, { argsHash, expiresAt, ...(isKept && { kept: { result } }) }, { size })
  }
}

/** The key of a call whose caller gave none (S0-45): the same request, task, tool and arguments are the same call. */
export function defaultIdempotencyKey(call: {
  readonly requestId: string
  readonly taskId: string
  readonly tool: string
  readonly argsHash: string
}): string {
  return `auto:${sha256(JSON.stringify([call.requestId, call.taskId, call.tool, call.argsHash]))}`
}

function join<R>(key: string, argsHash: string, running: Running<R>): Claim<R> {
  assertSameArgs(key, argsHash, running.argsHash)
  running.promise ??= new Promise((resolve) => {
    running.resolve = resolve
  })
  return { kind: 'join', result: running.promise }
}

function replay<R>(key: string, argsHash: string, finished: Finished<R>): Claim<R> {
  assertSameArgs(key, argsHash, finished.argsHash)
  if (finished.kept) return { kind: 'replay', result: finished.kept.result }
  throw new ToolError(
    'CONFLICT',
    `The call with the idempotency key ${shown(key)} ran, its result was too large to keep.`,
    {
      hint: 'Read the result in the records of the run; use another key only to execute the call once more.',
    },
  )
}

function assertSameArgs(key: string, argsHash: string, known: string): void {
  if (argsHash === known) return
  throw new ToolError('CONFLICT', `The idempotency key ${shown(key)} was used with other arguments.`, {
    hint: 'Use a new key for a new call; repeat a call with exactly the arguments it had.',
  })
}

function badKey(key: string): ToolError {
  return new ToolError(
    'INPUT_SCHEMA_INVALID',
    `An idempotency key has 1 to ${LONGEST_KEY} characters, not ${key.length}.`,
  )
}

function shown(key: string): string {
  return JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key)
}

/** What JSON cannot hold has no size to count, so it is not kept; its key is. */
function jsonChars(result: unknown): number {
  try {
    return JSON.stringify(result)?.length ?? 0
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
