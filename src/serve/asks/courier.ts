import { z } from 'zod'
import type { Clock } from '../../clock.ts'
import type { WebhookOptions } from '../../config/to-service.ts'
import { newOwner } from '../../disk/process-owner.ts'
import { messageOf } from '../../errors.ts'
import type { WebFetch } from '../../source.ts'
import type { Ask, AskBrief, Job, Store } from '../../store.ts'
import { signWebhook } from '../../value/sign-webhook.ts'
import { hookId, makeAnswerLink } from './answer-links.ts'
import { toApproval, toQuestion } from './to-view.ts'

/** What one webhook is sent with. */
export interface CourierOptions {
  readonly store: Pick<Store, 'asks' | 'jobs' | 'events'>
  readonly clock: Clock
  readonly hook: WebhookOptions
  readonly fetch: WebFetch
  /** Where the service is reached, for links. */
  readonly publicUrl: () => string
  /** Hears when something could not be sent. */
  readonly onProblem: (message: string) => void
}

const LEASE_MS = 60_000
const TIMEOUT_MS = 15_000
const IDLE_MS = 5_000
/** How long until it is tried again; the last one repeats until the ask is answered or expired. */
const BACKOFF_MS = [2_000, 10_000, 60_000, 300_000] as const
const MOST_WAITING = 10_000
const newsSchema = z.object({ id: z.string(), state: z.string() })
const jobSchema = z.object({ ask: z.string() })

/**
 * Sends asks to one webhook. The store has a job for each ask as long as it waits, also after it was sent: then the ask is
 * not sent again when a process adopts it, or a courier begins anew.
 */
export class Courier {
  readonly #options: CourierOptions
  readonly #hook: string
  readonly #kind: string
  readonly #owner = newOwner()
  readonly #stopped = new AbortController()
  readonly #stopWatching: () => void
  #cancelTimer = () => {}
  #isWoken = false
  #hasCaughtUp = false
  #hearing = Promise.resolve()
  #working: Promise<void> | undefined

  constructor(options: CourierOptions) {
    this.#options = options
    this.#hook = hookId(options.hook.url)
    this.#kind = `webhook:${this.#hook}`
    this.#stopWatching = options.store.events.watch(({ topic, body }) => {
      if (topic === 'ask') this.#hearing = this.#hearing.then(() => this.#hear(body))
    })
    this.#wake()
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    this.#stopWatching()
    this.#cancelTimer()
    await this.#hearing
    await this.#working
  }

  async #hear(body: string): Promise<void> {
    const { store } = this.#options
    try {
      const { id, state } = newsSchema.parse(JSON.parse(body))
      if (state !== 'waiting') return await store.jobs.finish(this.#jobOf(id))
      const ask = await store.asks.find(id)
      if (ask) await this.#enqueue(ask)
      this.#wake()
    } catch (error) {
      this.#complain('What waits cannot be sent', error)
    }
  }

  async #enqueue({ id, kind }: AskBrief): Promise<void> {
    const { store, clock, hook } = this.#options
    if (hook.events && !hook.events.includes(kind)) return
    const body = JSON.stringify({ ask: id } satisfies z.infer<typeof jobSchema>)
    await store.jobs.add({ id: this.#jobOf(id), kind: this.#kind, body, dueAt: clock.now() })
  }

  #jobOf(ask: string): string {
    return `${this.#kind}:${ask}`
  }

  #wake(): void {
    if (this.#stopped.signal.aborted) return
    this.#isWoken = true
    this.#cancelTimer()
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
      if (this.#isWoken) return this.#wake()
      if (this.#stopped.signal.aborted) return
      this.#cancelTimer = this.#options.clock.after(IDLE_MS, () => this.#wake(), { background: true })
    })
  }

  async #work(): Promise<void> {
    this.#isWoken = false
    const { store, clock } = this.#options
    try {
      await this.#catchUp()
      while (!this.#stopped.signal.aborted) {
        const taken = { kind: this.#kind, owner: this.#owner, now: clock.now(), leaseMs: LEASE_MS }
        const job = await store.jobs.take(taken)
        if (!job) return
        await this.#deliver(job)
      }
    } catch (error) {
      this.#complain('Webhooks cannot be sent now', error)
    }
  }

  /** What was asked while no courier listened. */
  async #catchUp(): Promise<void> {
    if (this.#hasCaughtUp) return
    for (const ask of await this.#options.store.asks.briefs({ state: 'waiting', limit: MOST_WAITING }))
      await this.#enqueue(ask)
    this.#hasCaughtUp = true
  }

  async #deliver(job: Job): Promise<void> {
    const { store, clock, hook } = this.#options
    const ask = await store.asks.find(jobSchema.parse(JSON.parse(job.body)).ask)
    if (ask?.state !== 'waiting' || ask.expiresAt <= clock.now()) return store.jobs.finish(job.id)
    try {
      await this.#send(job.id, ask)
    } catch (error) {
      const wait = this.#stopped.signal.aborted ? 0 : BACKOFF_MS[Math.min(job.attempts, BACKOFF_MS.length) - 1]!
      await store.jobs.retry(job.id, clock.now() + wait)
      if (wait > 0)
        this.#complain(`${new URL(hook.url).origin} did not take ${ask.id}, next try in ${wait / 1000} s`, error)
      return
    }
    await store.jobs.retry(job.id, ask.expiresAt)
  }

  async #send(id: string, ask: Ask): Promise<void> {
    const { clock, publicUrl, fetch, hook } = this.#options
    const { url, secret } = hook
    const now = clock.now()
    const link = makeAnswerLink({ ask: ask.id, hook: this.#hook, expiresAt: ask.expiresAt }, secret)
    const shown = ask.kind === 'approval' ? { approval: toApproval(ask, now) } : { question: toQuestion(ask, now) }
    const answerUrl = `${publicUrl().replace(/\/+$/, '')}/answer/${link}`
    const body = JSON.stringify({ type: `${ask.kind}.requested`, ...shown, answerUrl })
    const headers = signWebhook({ id, body, at: now }, secret)
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(TIMEOUT_MS)])
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`it answered ${response.status}.`)
  }

  #complain(what: string, error: unknown): void {
    this.#options.onProblem(`${what}: ${messageOf(error)}`)
  }
}
