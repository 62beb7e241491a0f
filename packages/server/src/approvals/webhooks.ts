import type { WebhookOptions } from '@tool-hub/config'
import {
  type ApprovalBrief,
  type Clock,
  type Job,
  messageOf,
  type Store,
  type StoredApproval,
  ToolError,
  type WebFetch,
  watchTopic,
} from '@tool-hub/core'
import { signWebhook, webhookKey } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import { newOwner } from '@tool-hub/sandbox/system'
import { z } from 'zod'
import { hookId, makeAnswerLink } from './answer-links.ts'
import { toApproval, toQuestion } from './approval-views.ts'

interface WebhookSenderOptions {
  readonly store: Pick<Store, 'approvals' | 'jobs' | 'events'>
  readonly clock: Clock
  readonly hook: WebhookOptions
  readonly fetch: WebFetch
  /** URL of the service, for links. */
  readonly publicUrl: () => string
  /** Called when something could not be sent. */
  readonly onProblem: (message: string) => void
}

interface WebhooksOptions extends Omit<WebhookSenderOptions, 'hook' | 'fetch'> {
  readonly hub: Pick<Hub, 'connect'>
  readonly hooks: readonly WebhookOptions[]
}

const HEADERS_TIMEOUT_MS = 15_000

/** Sends pending approvals and questions to the owner's webhooks, each until it is delivered or no longer waiting. */
export function startWebhooks({ hub, hooks, ...options }: WebhooksOptions): { close(): Promise<void> } {
  checkWebhooks(hooks)
  if (hooks.length === 0) return { close: async () => {} }
  let senders: readonly WebhookSender[] = []
  // A source without tools: it gets the guarded network access that the owner's own URLs have.
  const disconnect = hub.connect({
    name: 'webhooks',
    start(host) {
      host.hide(hooks.map(({ secret }) => secret))
      const origins = [...new Set(hooks.map(({ url }) => new URL(url).origin))]
      const fetch = host.webFetch({ origins, headersTimeoutMs: HEADERS_TIMEOUT_MS })
      // Independent of each other: one that does not respond delays no other.
      senders = hooks.map((hook) => new WebhookSender({ ...options, hook, fetch }))
    },
    async close() {
      await Promise.all(senders.map((sender) => sender.close()))
    },
  })
  return { close: disconnect }
}

const MIN_KEY_LENGTH = 24

/** Refuses webhooks with a weak secret or with the same URL; called before the service listens. */
export function checkWebhooks(hooks: readonly WebhookOptions[]): void {
  const urls = new Set<string>()
  for (const { url, secret } of hooks) {
    const { origin } = new URL(url)
    const { length } = webhookKey(secret)
    if (length < MIN_KEY_LENGTH) {
      throw new ToolError('CONFIG_INVALID', `The secret of the webhook ${origin} has ${length} characters.`, {
        hint: `Set its variable to at least ${MIN_KEY_LENGTH} random characters: openssl rand -hex 32.`,
      })
    }
    if (urls.has(url)) {
      throw new ToolError('CONFIG_INVALID', `Two webhooks go to the same URL of ${origin}.`, {
        hint: 'Write it once, with the events of both.',
      })
    }
    urls.add(url)
  }
}

const LEASE_MS = 60_000
const TIMEOUT_MS = 15_000
const IDLE_MS = 5_000
/** Delays before the next attempt; the last one repeats until the request is answered or expired. */
const BACKOFF_MS = [2_000, 10_000, 60_000, 300_000] as const
const MAX_WAITING = 10_000
const eventSchema = z.object({ id: z.string(), state: z.string() })
const jobSchema = z.object({ ask: z.string() })

/**
 * Sends requests to one webhook. The store has a job for each request while it waits, even after it was sent, so that it is
 * not sent again when another process adopts it or a sender restarts.
 */
class WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #hook: string
  readonly #kind: string
  readonly #owner = newOwner()
  readonly #stopped = new AbortController()
  readonly #stopWatching: () => void
  #cancelTimer = () => {}
  #isWoken = false
  #hasCaughtUp = false
  #reading = Promise.resolve()
  #working: Promise<void> | undefined

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    this.#hook = hookId(options.hook.url)
    this.#kind = `webhook:${this.#hook}`
    this.#stopWatching = watchTopic(options.store.events, 'ask', (body) => {
      this.#reading = this.#reading.then(() => this.#onEvent(body))
    })
    this.#wake()
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    this.#stopWatching()
    this.#cancelTimer()
    await this.#reading
    await this.#working
  }

  async #onEvent(body: string): Promise<void> {
    const { store } = this.#options
    try {
      const { id, state } = eventSchema.parse(JSON.parse(body))
      if (state !== 'waiting') return await store.jobs.finish(this.#jobOf(id))
      const stored = await store.approvals.find(id)
      if (stored) await this.#enqueue(stored)
      this.#wake()
    } catch (error) {
      this.#report('What waits cannot be sent', error)
    }
  }

  async #enqueue({ id, kind }: ApprovalBrief): Promise<void> {
    const { store, clock, hook } = this.#options
    if (hook.events && !hook.events.includes(kind)) return
    const body = JSON.stringify({ ask: id } satisfies z.infer<typeof jobSchema>)
    await store.jobs.add({ id: this.#jobOf(id), kind: this.#kind, body, dueAt: clock.now() })
  }

  #jobOf(request: string): string {
    return `${this.#kind}:${request}`
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
      this.#report('Webhooks cannot be sent now', error)
    }
  }

  /** Enqueues the requests that came while no sender was running. */
  async #catchUp(): Promise<void> {
    if (this.#hasCaughtUp) return
    for (const brief of await this.#options.store.approvals.briefs({ state: 'waiting', limit: MAX_WAITING }))
      await this.#enqueue(brief)
    this.#hasCaughtUp = true
  }

  async #deliver(job: Job): Promise<void> {
    const { store, clock, hook } = this.#options
    const stored = await store.approvals.find(jobSchema.parse(JSON.parse(job.body)).ask)
    if (stored?.state !== 'waiting' || stored.expiresAt <= clock.now()) return store.jobs.finish(job.id)
    try {
      await this.#send(job.id, stored)
    } catch (error) {
      const wait = this.#stopped.signal.aborted ? 0 : BACKOFF_MS[Math.min(job.attempts, BACKOFF_MS.length) - 1]!
      await store.jobs.retry(job.id, clock.now() + wait)
      if (wait > 0)
        this.#report(`${new URL(hook.url).origin} did not take ${stored.id}, next try in ${wait / 1000} s`, error)
      return
    }
    await store.jobs.retry(job.id, stored.expiresAt)
  }

  async #send(id: string, stored: StoredApproval): Promise<void> {
    const { clock, publicUrl, fetch, hook } = this.#options
    const { url, secret } = hook
    const now = clock.now()
    const link = makeAnswerLink({ request: stored.id, hook: this.#hook, expiresAt: stored.expiresAt }, secret)
    const shown =
      stored.kind === 'approval' ? { approval: toApproval(stored, now) } : { question: toQuestion(stored, now) }
    const answerUrl = `${publicUrl().replace(/\/+$/, '')}/answer/${link}`
    const body = JSON.stringify({ type: `${stored.kind}.requested`, ...shown, answerUrl })
    const headers = signWebhook({ id, body, at: now }, secret)
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(TIMEOUT_MS)])
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`it answered ${response.status}.`)
  }

  #report(what: string, error: unknown): void {
    this.#options.onProblem(`${what}: ${messageOf(error)}`)
  }
}
