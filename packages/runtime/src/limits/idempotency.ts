import { type Awaitable, type Clock, type HeldRun, type KeyState, type KeyStore, ToolError } from '@tool-hub/core'
import { after, parseJson, sha256 } from '@tool-hub/core/lib'
import { isOwnerAlive, newOwner } from '@tool-hub/sandbox/system'

/**
 * What a claimed key means for the call: `begin` right before it executes and `finish` it (`undefined`: nothing was
 * executed, forget the key), wait for the same call that is under way (`undefined`: it was not executed, claim again), or
 * use what it gave.
 */
export type Claim<R> =
  | ({ readonly kind: 'new' } & NewKey<R>)
  | { readonly kind: 'join'; readonly result: Promise<R | undefined> }
  | { readonly kind: 'replay'; readonly result: R }

/** A key that has not been used. */
export interface NewKey<R> {
  /** From now on it counts as used, also for other processes and should this one be killed. */
  begin(): Awaitable<void>
  /** With `held`, the result is kept only if this process still has the run. */
  finish(result: R | undefined, held?: HeldRun): Awaitable<void>
}

interface IdempotencyOptions {
  /** A larger result is not kept: its key stays, and a repeated call gets CONFLICT. Default: 1 MB. */
  readonly maxResultChars?: number
  /** Default: a day. */
  readonly ttlMs?: number
  /** Id of this process among those that share the store. Default: no other machine uses the store. */
  readonly process?: string
}

/** Within what a key means one call. */
export interface KeyScope {
  readonly principal: string | undefined
  readonly run: string
  readonly tool: string
}

interface Running<R> {
  readonly argsHash: string
  promise?: Promise<R | undefined>
  resolve?: (result: R | undefined) => void
}

/** How a claimed key ends in the store, and what those get who wait for it; `undefined`: they claim it again. */
interface Ending<R> {
  readonly write: () => Awaitable<void>
  readonly known: R | undefined
}

const MAX_KEY_LENGTH = 1_000
/** How long a key is known after its call has ended. */
export const KEY_TTL_MS = 86_400_000
const LOOK_AGAIN_MS = 100
const SETTLE_AGAIN_MS = 1_000

/**
 * Executes a call at most once per key, over all processes with one store: calls under way are joined, finished ones
 * replayed. One whose process was killed while it executed has had an unknown effect, and is never executed again.
 */
export class Idempotency<R> {
  readonly #store: KeyStore
  readonly #clock: Clock
  readonly #owner: string
  readonly #running = new Map<string, Running<R>>()
  readonly #ttlMs: number
  readonly #maxResultChars: number

  constructor(
    store: KeyStore,
    clock: Clock,
    { ttlMs = KEY_TTL_MS, maxResultChars = 1_048_576, process }: IdempotencyOptions = {},
  ) {
    this.#owner = newOwner(process)
    this.#store = store
    this.#clock = clock
    this.#ttlMs = ttlMs
    this.#maxResultChars = maxResultChars
  }

  /**
   * Says what the key means for a call with these arguments; other arguments under a known key are a CONFLICT.
   * `recorded` is the name of the same key if only the records knew it.
   */
  claim(key: string, argsHash: string, recorded?: string): Awaitable<Claim<R>> {
    const present = this.#running.get(key)
    if (present) return join(key, argsHash, present)
    if (key.length === 0 || key.length > MAX_KEY_LENGTH) throw badKey(key)
    // Ours before anybody else can ask: a store may take its time to answer.
    const running: Running<R> = { argsHash }
    this.#running.set(key, running)
    try {
      const looking = after(this.#store.look(key), (state) =>
        state || recorded === undefined ? state : this.#store.look(recorded),
      )
      const found = after(looking, (state) => this.#judge(key, argsHash, running, state))
      return found instanceof Promise ? found.catch((error) => this.#giveUp(key, running, error)) : found
    } catch (error) {
      return this.#giveUp(key, running, error)
    }
  }

  #judge(key: string, argsHash: string, running: Running<R>, state: KeyState | undefined): Claim<R> {
    if (!state || (state.expiresAt !== undefined && state.expiresAt <= this.#clock.now()))
      return this.#start(key, running)
    assertSameArgs(key, argsHash, state.argsHash)
    this.#drop(key, running, undefined)
    if (state.state === 'running') return { kind: 'join', result: this.#awaitOther(key, state) }
    return { kind: 'replay', result: resultOf(key, state) }
  }

  #start(key: string, running: Running<R>): Claim<R> {
    let mayBeStored = false
    let isOpen = true
    return {
      kind: 'new',
      begin: () => {
        const { argsHash } = running
        // The answer of the store may be lost after the key was stored.
        mayBeStored = true
        const claiming = this.#store.claim(key, { argsHash, owner: this.#owner, now: this.#clock.now() })
        return after(claiming, (other) => {
          if (!other) return
          mayBeStored = false
          throw taken(key)
        })
      },
      finish: (result, held) => {
        if (!isOpen) return
        isOpen = false
        if (!mayBeStored) return this.#drop(key, running, result)
        const write = () =>
          result === undefined ? this.#store.release(key, this.#owner) : this.#keep(key, result, held)
        // Only the store knows whether this process still has the run, so those who wait for the result look there.
        return this.#settle(key, running, { write, known: held ? undefined : result })
      },
    }
  }

  /** The key stays under way until the store has `write`: if that fails, it is tried again later. */
  #settle(key: string, running: Running<R>, { write, known }: Ending<R>): Awaitable<void> {
    const settled = (): void => this.#drop(key, running, known)
    const failed = (error: unknown): never => {
      const again = async (): Promise<void> => this.#settle(key, running, { write, known })
      // Each failure makes another try due.
      this.#clock.after(SETTLE_AGAIN_MS, () => void again().catch(() => {}), { background: true })
      throw error
    }
    try {
      const writing = write()
      return writing instanceof Promise ? writing.then(settled, failed) : settled()
    } catch (error) {
      return failed(error)
    }
  }

  #keep(key: string, result: R, held: HeldRun | undefined): Awaitable<void> {
    const json = jsonOf(result)
    const kept = json !== undefined && json.length <= this.#maxResultChars ? { result: json } : {}
    return this.#store.finish(key, { owner: this.#owner, ...kept, expiresAt: this.#clock.now() + this.#ttlMs, held })
  }

  /** Another process, or another hub of this one, executes the call: looks until that has ended. */
  async #awaitOther(key: string, { owner }: KeyState): Promise<R | undefined> {
    for (;;) {
      if (owner === this.#owner || !isOwnerAlive(owner)) throw interrupted(key)
      await new Promise<void>((resolve) => {
        this.#clock.after(LOOK_AGAIN_MS, resolve, { background: true })
      })
      const state = await this.#store.look(key)
      if (!state) return undefined
      if (state.state === 'finished') return resultOf(key, state)
    }
  }

  #giveUp(key: string, running: Running<R>, error: unknown): never {
    this.#drop(key, running, undefined)
    throw error
  }

  #drop(key: string, running: Running<R>, result: R | undefined): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
    running.resolve?.(result)
  }
}

/** What names a call whose caller gave no key. */
type CallIds = { readonly requestId: string; readonly taskId: string } | { readonly repeatKey: string }

/** The key of a call whose caller gave none: the same ids, tool and arguments are the same call. */
export function defaultIdempotencyKey(call: CallIds & { readonly tool: string; readonly argsHash: string }): string {
  const ids = 'repeatKey' in call ? [call.repeatKey] : [call.requestId, call.taskId]
  return `auto:${sha256(JSON.stringify([...ids, call.tool, call.argsHash]))}`
}

/** The name of a key in the store. As JSON no two are alike, whatever is in the names. */
export function keyName(call: KeyScope & { readonly key: string }): string {
  return JSON.stringify([...scopeOf(call), call.tool, call.key])
}

/** The name of a key that was restored from the records, which have only its hash. */
export function recordedKeyName(call: KeyScope & { readonly keyHash: string }): string {
  return JSON.stringify([...scopeOf(call), call.tool, { sha256: call.keyHash }])
}

/** A caller that returns after a crash has another run but the same principal. */
function scopeOf({ principal, run }: KeyScope): readonly [string, string] {
  return principal === undefined ? ['run', run] : ['principal', principal]
}

function join<R>(key: string, argsHash: string, running: Running<R>): Claim<R> {
  assertSameArgs(key, argsHash, running.argsHash)
  running.promise ??= new Promise((resolve) => {
    running.resolve = resolve
  })
  return { kind: 'join', result: running.promise }
}

function resultOf<R>(key: string, { result }: KeyState): R {
  if (result !== undefined) return JSON.parse(result) as R
  throw new ToolError(
    'CONFLICT',
    `The call with the idempotency key ${shown(key)} was executed, but its result is not in the store.`,
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

function interrupted(key: string): ToolError {
  return new ToolError(
    'CONFLICT',
    `The call with the idempotency key ${shown(key)} was interrupted; its effect is unknown.`,
    {
      hint: 'Look whether it happened; use another key only to execute the call once more.',
    },
  )
}

function taken(key: string): ToolError {
  return new ToolError('CONFLICT', `Another process executes the call with the idempotency key ${shown(key)}.`, {
    hint: 'Repeat the call with the same key: it gets the result of the other one.',
    retryable: true,
  })
}

function badKey(key: string): ToolError {
  return new ToolError(
    'INPUT_SCHEMA_INVALID',
    `An idempotency key has 1 to ${MAX_KEY_LENGTH} characters, not ${key.length}.`,
  )
}

/** The key as its caller knows it: without the principal and the tool that are part of its name in the store. */
function shown(name: string): string {
  const parts = parseJson(name)
  const key = Array.isArray(parts) && typeof parts[3] === 'string' ? parts[3] : name
  return JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key)
}

/** What JSON cannot hold is not kept; its key is. */
function jsonOf(result: unknown): string | undefined {
  try {
    return JSON.stringify(result)
  } catch {
    return undefined
  }
}
