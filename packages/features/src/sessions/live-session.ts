import {
  type FeatureHost,
  lazyModule,
  messageOf,
  type Principal,
  type Rights,
  ToolError,
  type ToolResult,
} from '@tool-hub/core'
import { textsOfOwner } from './describe-session.ts'
import type { Mailbox } from './mailbox.ts'
import { MAX_RESULT_CHARS, type Runner, type SessionTask, type SessionTool, type SessionWork } from './runner.ts'
import type { SessionEvents } from './session-events.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SessionEnd, StoredSession } from './store-types.ts'
import type { SessionMessage } from './types.ts'

const loadRunCommand = lazyModule(() => import('./run-command.ts'))

const loadRunUrl = lazyModule(() => import('./run-url.ts'))

/** What a live session works with. */
export interface LiveSessionOptions {
  readonly row: StoredSession
  readonly runner: Runner
  readonly rights: Rights & { readonly principal: Principal }
  /** The session id of the root call, whose budget it shares. */
  readonly session: string
  /** Whether its task is untrusted. */
  readonly isTainted: boolean
  readonly lifeMs?: number
  readonly host: FeatureHost
  readonly events: SessionEvents
  readonly registry: SessionRegistry
  readonly mailbox: Mailbox
  /** Called when it is over, to end its children. */
  readonly onOver: (id: string) => Promise<void>
}

/** Default lifetime of a session. */
const LIFE_MS = 3_600_000
const MAX_REASON_CHARS = 2_000
/** How many texts of a list a run takes. */
const MAX_USER_TEXTS = 200
const FOREVER_MS = Number.MAX_SAFE_INTEGER

/** A session whose runner works in this process. */
export class LiveSession {
  readonly id: string
  readonly whenOver: Promise<void>
  readonly #options: LiveSessionOptions
  readonly #stop = new AbortController()
  /** Whether it has received untrusted content that its run does not know of; afterwards the taint of the run counts. */
  #hasUntold: boolean
  /** What a person wrote: the task, unless an agent wrote it, and messages of the owner. */
  #userText: readonly string[]
  #end: Omit<SessionEnd, 'at'> | undefined

  constructor(options: LiveSessionOptions) {
    this.id = options.row.id
    this.#options = options
    this.#hasUntold = options.isTainted
    const { parent, task } = options.row
    this.#userText = parent === undefined && task !== undefined ? [task] : []
    this.whenOver = this.#live()
  }

  /** Ends the session; only the first end counts. */
  end(end: Omit<SessionEnd, 'at'>): void {
    this.#end ??= end
    this.#stop.abort(new ToolError('ABORTED', end.reason ?? 'The session was ended.'))
  }

  async #live(): Promise<void> {
    const { runner, host, events, onOver } = this.#options
    const { timeoutMs = LIFE_MS } = runner
    const lifeMs = Math.min(timeoutMs, this.#options.lifeMs ?? FOREVER_MS)
    const cancel = host.clock.after(lifeMs, () =>
      this.end({ state: 'failed', reason: `It was not done after ${lifeMs} ms.` }),
    )
    // If the store cannot be read, the next event checks again.
    const stopHearing = events.on(this.id, () => void this.#look().catch(() => {}))
    const end = await this.#run()
    cancel()
    stopHearing()
    this.end(end)
    await this.#close(this.#end!)
    await onOver(this.id).catch((error) => host.warn(`Session ${this.id}: ${messageOf(error)}`))
  }

  /** Never throws: a failure of the runner becomes the end of the session. */
  async #run(): Promise<Omit<SessionEnd, 'at'>> {
    const { runner, host } = this.#options
    const { signal } = this.#stop
    try {
      const work = this.#work()
      const task = { runner: this.#options.row.runner!, work, take: () => this.#take(), host }
      const running = runRunner(runner, task)
      // A callback that ignores its signal is abandoned; a program is awaited until it has exited.
      const result = await (runner.type === 'command' ? running : Promise.race([running, aborted(signal, running)]))
      return { state: 'ended', result: cutText(host.redact(String(result)), MAX_RESULT_CHARS) }
    } catch (error) {
      return this.#end ?? { state: 'failed', reason: messageOf(error) }
    }
  }

  async #close({ reason, ...end }: Omit<SessionEnd, 'at'>): Promise<void> {
    const { host, registry, rights } = this.#options
    const isTainted = await this.#isTaintedNow()
    const told = reason === undefined ? {} : { reason: cutText(host.redact(reason), MAX_REASON_CHARS) }
    try {
      await registry.end(this.id, { ...end, ...told, isTainted })
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
      this.end({ state: 'failed', reason: 'The principal that it worked for no longer exists.' })
      signal.throwIfAborted()
    }
    const result = await host.as({ ...rights, principal }).call(tool, input, {
      run: this.id,
      session,
      ...(this.#userText.length > 0 && { userText: this.#userText }),
      signal: own ? AbortSignal.any([own, signal]) : signal,
      ...(this.#hasUntrusted && { untrusted: true }),
    })
    if (this.#hasUntold && (await host.isTainted(this.id))) this.#hasUntold = false
    return result
  }

  async #say(text: string, replyTo: string | undefined): Promise<void> {
    const { row, registry, mailbox } = this.#options
    const message = { text, isTainted: await this.#isTaintedNow(), ...(replyTo !== undefined && { replyTo }) }
    const parent = row.parent === undefined ? undefined : await registry.find(row.parent)
    await (parent ? mailbox.send(this.id, parent, message) : mailbox.sendToOwner(this.id, message))
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
      return (await this.#options.events.until(wait)) ?? []
    } catch (error) {
      if (signal.aborted) return []
      throw error
    }
  }

  async #take(): Promise<readonly SessionMessage[]> {
    const taken = await this.#options.mailbox.take(this.id)
    this.#userText = [...this.#userText, ...textsOfOwner(taken)].slice(-MAX_USER_TEXTS)
    if (taken.some(({ isUntrusted }) => isUntrusted)) {
      this.#hasUntold = true
      await this.#options.host.store.sessions.taint(this.id)
    }
    return taken
  }

  /** Checks whether it was ended elsewhere, for example by another process. */
  async #look(): Promise<void> {
    const row = await this.#options.host.store.sessions.find(this.id)
    if (row && row.state !== 'running') this.end({ state: 'ended', reason: row.reason ?? 'It was ended.' })
  }

  /** Whether its next call brings untrusted content with it: all calls of an untrusted runner do. */
  get #hasUntrusted(): boolean {
    return this.#hasUntold || !isTrusted(this.#options.runner)
  }

  async #isTaintedNow(): Promise<boolean> {
    return this.#hasUntrusted || this.#options.host.isTainted(this.id)
  }
}

/** The current rights of a session: those it started with, limited by the current rights of its principal. */
async function rightsNow(host: FeatureHost, principal: Principal): Promise<Principal | undefined> {
  if (principal.chargedRuns === undefined) return host.principalNow(principal)
  if (!principal.within) return principal
  const within = await rightsNow(host, principal.within)
  return within && { ...principal, within }
}

function aborted(signal: AbortSignal, running: Promise<unknown>): Promise<never> {
  // It may still fail after the race is decided.
  running.catch(() => {})
  return new Promise((_, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}

/** Runs the configured runner. */
async function runRunner(runner: Runner, task: SessionTask): Promise<string> {
  if (runner.type === 'command') return (await loadRunCommand()).runCommand(runner, task)
  if (runner.type === 'url') return (await loadRunUrl()).runUrl(runner, task)
  return runner.run(task.work)
}

/** Whether the output of a runner is trusted: a callback of the owner, or a runner with `trust`. */
export function isTrusted(runner: Runner): boolean {
  return runner.type === 'command' || runner.type === 'url' ? runner.trust === true : true
}

/** Cuts a text to a maximum length and notes how many characters are missing. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  return `${text.slice(0, maxChars)}\n[${text.length - maxChars} characters were cut]`
}
