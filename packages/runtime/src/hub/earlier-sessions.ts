import type { Awaitable, Clock, DocumentStore } from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import { z } from 'zod'
import { DocumentState, type State } from '../store/index.ts'
import type { RunState } from './run-state.ts'

/** A session that was tainted, and about when it was last used. */
const sessionSchema = z.object({ run: z.string(), at: z.number() })
const sessionsSchema = z.object({ version: z.literal(1), sessions: z.array(sessionSchema) })
type Sessions = z.output<typeof sessionsSchema>

const NONE: Sessions = { version: 1, sessions: [] }
const WHAT = 'The tainted sessions of a client'
const HINT = 'Restore the store from a backup; only tool-hub writes these documents.'
const REMEMBERED_MS = 24 * 3_600_000
/** How exactly the last use of a session is known. */
const REFRESH_MS = 3_600_000
const MAX_SESSIONS = 50
const EARLIER = 'earlier session '

/** A session that this process has met. */
interface Met {
  /** When its last use was written down. */
  at: number
  /** Whether it was compared with earlier ones. */
  isChecked: boolean
}

/** A client, with the principal that it calls for. */
type Client = readonly [principal: string | undefined, client: string]

interface EarlierSessionsOptions {
  readonly documents: DocumentStore
  /** Whether the calls of one conversation may arrive at several machines. */
  readonly isOneOfMany: boolean
  readonly clock: Clock
  /** The folder that its calls work in: another one means another task. */
  readonly root: string | undefined
  /** What has tainted a run, also one of another process. */
  readonly taintedBy: (run: string) => Awaitable<readonly string[]>
}

/**
 * Remembers the tainted runs of clients that do not name their conversations. A client that connects again may continue the
 * same conversation: its new run is tainted if an earlier one of the last day is, until that is cleared. If the
 * hub is one of many, the calls of one conversation may arrive at several of them, so its runs are then compared before each call.
 */
export class EarlierSessions {
  readonly #options: EarlierSessionsOptions
  readonly #met = new WeakMap<RunState, Met>()

  constructor(options: EarlierSessionsOptions) {
    this.#options = options
  }

  /** Called before each call of such a client. Waits for the first of a run, about once an hour, and if the hub is one of many. */
  continue(run: RunState, client: Client): Promise<void> | undefined {
    const met = this.#met.get(run) ?? this.#meet(run, client)
    const isDue = this.#options.clock.now() - met.at >= REFRESH_MS
    const mustCheck = !met.isChecked || this.#options.isOneOfMany
    return isDue || mustCheck ? this.#compare(run, client, met, { isDue, mustCheck }) : undefined
  }

  #meet(run: RunState, client: Client): Met {
    const met: Met = { at: this.#options.clock.now(), isChecked: false }
    this.#met.set(run, met)
    run.keptTaint?.keepIn({ save: (sources) => this.#save(run.id, client, sources) })
    return met
  }

  async #compare(
    run: RunState,
    client: Client,
    met: Met,
    { isDue, mustCheck }: { readonly isDue: boolean; readonly mustCheck: boolean },
  ): Promise<void> {
    if (isDue) {
      await this.#save(run.id, client, run.taintedBy)
      met.at = this.#options.clock.now()
    }
    if (!mustCheck) return
    await this.#check(run, client)
    met.isChecked = true
  }

  async #save(run: string, client: Client, sources: readonly string[]): Promise<void> {
    const at = this.#options.clock.now()
    await this.#use(client, (state) => {
      const { sessions } = state.read()
      const others = sessions.filter((session) => session.run !== run && session.at > at - REMEMBERED_MS)
      // What it has from a session before it is found there, for as long as it counts.
      const isTainted = sources.some((source) => !source.startsWith(EARLIER))
      if (!isTainted && others.length === sessions.length) return
      const next = isTainted ? [{ run, at }, ...others].slice(0, MAX_SESSIONS) : others
      state.update(() => ({ version: 1, sessions: next }))
    })
  }

  async #check(run: RunState, client: Client): Promise<void> {
    const since = this.#options.clock.now() - REMEMBERED_MS
    const { sessions } = await this.#use(client, (state) => state.read())
    for (const { run: earlier, at } of sessions) {
      if (earlier === run.id || at <= since) continue
      const sources = await this.#options.taintedBy(earlier)
      if (sources.some((source) => !source.startsWith(EARLIER))) run.taint(undefined, `${EARLIER}${earlier}`)
    }
  }

  async #use<R>(client: Client, work: (state: State<Sessions>) => R): Promise<R> {
    const { documents, root } = this.#options
    const name = `mcp-sessions/${sha256(JSON.stringify([root, ...client])).slice(0, 32)}`
    return new DocumentState({ documents, name, schema: sessionsSchema, empty: NONE, what: WHAT, hint: HINT }).use(work)
  }
}
