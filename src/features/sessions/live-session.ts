import {
  type FeatureHost,
  lazyModule,
  messageOf,
  type Principal,
  type Rights,
  ToolError,
  type ToolResult,
} from '../../core/index.ts'
import { cutText, LIFE_MS, MAX_REASON_CHARS, MAX_RESULT_CHARS } from './bounds.ts'
import type { Mailbox } from './mailbox.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SessionEnd, StoredSession } from './store-types.ts'
import type { SessionTask } from './runner.ts'
import type { Runner, SessionMessage, SessionWork, SessionTool } from './types.ts'
import type { SessionEvents } from './session-events.ts'

const loadRunCommand = lazyModule(() => import('./run-command.ts'))

const loadRunUrl = lazyModule(() => import('./run-url.ts'))

/** What a session lives with. */
export interface LiveSessionOptions {
  readonly row: StoredSession
  readonly runner: Runner
  readonly rights: Rights & { readonly principal: Principal }
  /** That of whoever began it all, whose budget it shares. */
  readonly session: string
  /** Its task came from outside. */
  readonly isTainted: boolean
  readonly lifeMs?: number
  readonly host: FeatureHost
  readonly wakes: SessionEvents
  readonly book: SessionRegistry
  readonly post: Mailbox
  /** It is over; what it began has to end, too. */
  readonly onOver: (id: string) => Promise<void>
}

const FOREVER_MS = Number.MAX_SAFE_INTEGER

/** A session that a runner of this process works in. */
export class LiveSession {
  readonly id: string
  readonly whenOver: Promise<void>
  readonly #options: LiveSessionOptions
  readonly #stop = new AbortController()
  /** It got what came from outside; what a stranger works with nobody knows. */
  #isTainted: boolean
  #end: Omit<SessionEnd, 'at'> | undefined

  constructor(options: LiveSessionOptions) {
    this.id = options.row.id
    this.#options = options
    this.#isTainted = options.isTainted || !isTrusted(options.runner)
    this.whenOver = this.#live()
  }

  /** Ends it, whatever it does; the first end counts. */
  end(end: Omit<SessionEnd, 'at'>): void {
    this.#end ??= end
    this.#stop.abort(new ToolError('ABORTED', end.reason ?? 'The session was ended.'))
  }

  async #live(): Promise<void> {
    const { runner, host, wakes, onOver } = this.#options
    const { timeoutMs = LIFE_MS } = runner
    const lifeMs = Math.min(timeoutMs, this.#options.lifeMs ?? FOREVER_MS)
    const cancel = host.clock.after(lifeMs, () =>
      this.end({ state: 'failed', reason: `It was not done after ${lifeMs} ms.` }),
    )
    // A store that cannot be read is told by whoever needs it; the next news looks again.
    const stopHearing = wakes.on(this.id, () => void this.#look().catch(() => {}))
    const end = await this.#run()
    cancel()
    stopHearing()
    this.end(end)
    await this.#close(this.#end!)
    await onOver(this.id).catch((error) => host.warn(`Session ${this.id}: ${messageOf(error)}`))
  }

  /** Never throws: however the runner fails, its session has an end. */
  async #run(): Promise<Omit<SessionEnd, 'at'>> {
    const { runner, host } = this.#options
    const { signal } = this.#stop
    try {
      const work = this.#work()
      const task = { runner: this.#options.row.runner!, work, take: () => this.#take(), host }
      const running = runRunner(runner, task)
      // Code that does not heed its signal is left behind; a program is waited for until it is gone.
      const result = await (runner.type === 'command' ? running : Promise.race([running, aborted(signal, running)]))
      return { state: 'ended', result: cutText(host.redact(String(result)), MAX_RESULT_CHARS) }
    } catch (error) {
      return this.#end ?? { state: 'failed', reason: messageOf(error) }
    }
  }

  async #close({ reason, ...end }: Omit<SessionEnd, 'at'>): Promise<void> {
    const { host, book, rights } = this.#options
    const isTainted = this.#isTaintedNow
    const told = reason === undefined ? {} : { reason: cutText(host.redact(reason), MAX_REASON_CHARS) }
    try {
      await book.end(this.id, { ...end, ...told, isTainted })
      await host.as(rights).endRun(this.id)
    } catch (error) {
      // A hub that is closing ends its runs itself.
      if (!ToolError.is(error) || error.code !== 'ABORTED') host.warn(`Session ${this.id}: ${messageOf(error)}`)
    }
  }

  #work(): SessionWork {
    const { row, host, rights } = this.#options
    return {
      id: this.id,
      ...(row.label !== undefined && { label: row.label }),
      task: row.task ?? '',
      tools: host.as(rights).listForLLM() as readonly SessionTool[],
      call: (tool, input, options) => this.#call(tool, input, options?.signal),
      messages: () => this.#messages(),
      say: (text, options) => this.#say(text, options?.replyTo),
      signal: this.#stop.signal,
    }
  }

  async #call(tool: string, input: unknown, own: AbortSignal | undefined): Promise<ToolResult> {
    const { host, rights, session } = this.#options
    const { signal } = this.#stop
    signal.throwIfAborted()
    const principal = await rightsNow(host, rights.principal)
    if (!principal) {
      this.end({ state: 'failed', reason: 'Whoever it worked for may not any more.' })
      signal.throwIfAborted()
    }
    return host.as({ ...rights, principal }).call(tool, input, {
      run: this.id,
      session,
      signal: own ? AbortSignal.any([own, signal]) : signal,
      ...(this.#isTainted && { untrusted: true }),
    })
  }

  async #say(text: string, replyTo: string | undefined): Promise<void> {
    const { row, book, post } = this.#options
    const letter = { text, isTainted: this.#isTaintedNow, ...(replyTo !== undefined && { replyTo }) }
    const parent = row.parent === undefined ? undefined : await book.find(row.parent)
    await (parent ? post.send(this.id, parent, letter) : post.sendToOwner(this.id, letter))
  }

  async *#messages(): AsyncGenerator<SessionMessage> {
    const { signal } = this.#stop
    while (!signal.aborted) yield* await this.#next()
  }

  async #next(): Promise<readonly SessionMessage[]> {
    const { signal } = this.#stop
    const look = async () => {
      const taken = await this.#take()
      return taken.length > 0 ? taken : undefined
    }
    try {
      const wait = { subjects: [this.id], look, withinMs: FOREVER_MS, signal }
      return (await this.#options.wakes.until(wait)) ?? []
    } catch (error) {
      if (signal.aborted) return []
      throw error
    }
  }

  async #take(): Promise<readonly SessionMessage[]> {
    const taken = await this.#options.post.take(this.id)
    if (taken.some(({ isUntrusted }) => isUntrusted) && !this.#isTainted) {
      this.#isTainted = true
      await this.#options.host.store.sessions.taint(this.id)
    }
    return taken
  }

  /** Somebody else, maybe in another process, may have ended it. */
  async #look(): Promise<void> {
    const row = await this.#options.host.store.sessions.find(this.id)
    if (row && row.state !== 'running') this.end({ state: 'ended', reason: row.reason ?? 'It was ended.' })
  }

  get #isTaintedNow(): boolean {
    return this.#isTainted || this.#options.host.isTainted(this.id)
  }
}

/** What a session may now: what it began with, as far as whoever it works for still may. */
async function rightsNow(host: FeatureHost, principal: Principal): Promise<Principal | undefined> {
  if (principal.chargedRuns === undefined) return host.principalNow(principal)
  if (!principal.within) return principal
  const within = await rightsNow(host, principal.within)
  return within && { ...principal, within }
}

function aborted(signal: AbortSignal, running: Promise<unknown>): Promise<never> {
  // It may fail later, when nobody looks any more.
  running.catch(() => {})
  return new Promise((_, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}

/** Works on a session with whatever its owner named. */
async function runRunner(runner: Runner, task: SessionTask): Promise<string> {
  if (runner.type === 'command') return (await loadRunCommand()).runCommand(runner, task)
  if (runner.type === 'url') return (await loadRunUrl()).runUrl(runner, task)
  return runner.run(task.work)
}

/** Whether nothing of it came past the guards: code of the owner's, or one that the owner trusts. */
export function isTrusted(runner: Runner): boolean {
  return runner.type === 'command' || runner.type === 'url' ? runner.trust === true : true
}
