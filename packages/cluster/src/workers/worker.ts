import { type Clock, type JobQueue, labelsOfPlace, messageOf, type QueuedJob, ToolError } from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import type { HubRuntime } from '@tool-hub/runtime/hub'
import type { ClusterMember } from '../membership/cluster-member.ts'
import { executeJob } from './execute-job.ts'
import { type CallJob, putParts, WORKER_SECRET, WorkerSeal } from './job.ts'
import { Announcer, announced, ProgressRelay, WORKER_EVENTS, type WorkerProgress } from './worker-events.ts'
import { checkWorkerOptions, type RunningWorker, type WorkerLogEntry, type WorkerOptions } from './worker-options.ts'

/** How long a worker without work waits for an event before it looks again. */
const IDLE_MS = 500
const QUEUES_MS = 5_000
/** How often a worker checks which of its calls it should stop. */
const CHECK_MS = 1_000
/** A larger outcome is stored in parts. */
const MAX_INLINE_CHARS = 262_144

/** Who stops a call, for its error. */
const BY_RUN = 'the process of its run'
const BY_WORKER = 'its worker, which ends'

const SERVICE_USER = 'The database user of this worker can read tokens and keys: use deploy/worker-role.sql.'

/** Starts to take calls of other processes. Rejects if the store has no queue. */
export async function startWorking(
  runtime: HubRuntime,
  member: ClusterMember | undefined,
  options: WorkerOptions,
): Promise<RunningWorker> {
  const { labels, concurrency } = checkWorkerOptions(options)
  const { store, plugins, sources } = runtime
  if (!member || !store.openQueue)
    throw new ToolError('CONFIG_INVALID', 'A worker needs a store that it shares with other processes.', {
      fix: { key: 'store', hint: 'Set store to a PostgreSQL URL, the same as that of the services.' },
    })
  const [queue, secret] = await Promise.all([store.openQueue(), store.settings.secret(WORKER_SECRET)])
  // Without all its tools, the worker would fail calls that another one could execute.
  await (plugins.pending ?? sources.pending)
  await sources.ready()
  member.describe({ kind: 'worker', labels, concurrency })
  await member.beat()
  const worker = new Worker({ ...options, runtime, member, queue, seal: new WorkerSeal(secret), labels, concurrency })
  if (queue.hasWorkerRole === false) options.onLog?.({ level: 'warn', message: SERVICE_USER })
  worker.start()
  return worker
}

interface WorkerParts {
  readonly runtime: HubRuntime
  readonly member: ClusterMember
  readonly queue: JobQueue
  readonly seal: WorkerSeal
  readonly labels: readonly string[]
  readonly concurrency: number
  readonly onLog?: WorkerOptions['onLog']
}

/** Takes jobs from the queues that its labels cover, claims their calls and executes them. */
class Worker implements RunningWorker {
  readonly id: string
  readonly labels: readonly string[]
  readonly #parts: WorkerParts
  readonly #clock: Clock
  /** The calls that run, by the id of their job. */
  readonly #calls = new Map<string, AbortController>()
  /** The ids of jobs that this worker executes, or whose results it writes. */
  readonly #claimed = new Set<string>()
  /** What a drain waits for. */
  readonly #kept = new Set<Promise<void>>()
  readonly #ended: Announcer
  readonly #stops: (() => void)[] = []
  #cancelCheck: (() => void) | undefined
  #queues: { readonly names: readonly string[]; readonly at: number } | undefined
  #first = 0
  #isDraining = false
  #isAwake = false
  #onWake: (() => void) | undefined
  #looping: Promise<void> | undefined
  #draining: Promise<boolean> | undefined

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#clock = parts.runtime.clock
    this.id = parts.member.id
    this.labels = parts.labels
    this.#ended = new Announcer(parts.runtime.store.events, this.#clock, WORKER_EVENTS.ended)
  }

  get concurrency(): number {
    return this.#parts.concurrency
  }

  get running(): number {
    return this.#calls.size
  }

  start(): void {
    const { member, runtime } = this.#parts
    const { store } = runtime
    this.#stops.push(
      store.events.watch(({ topic, body }) => {
        if (topic === WORKER_EVENTS.queued) for (const place of announced(body)) this.#hear(place)
        if (topic === WORKER_EVENTS.stopped) for (const id of announced(body)) this.#calls.get(id)?.abort(BY_RUN)
      }),
      // Other processes may regard this one as ended, so nobody waits for its calls any more.
      member.onCut(() => this.#abortAll()),
    )
    this.#looping = this.#loop()
    this.#checkLater()
  }

  drain({ timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<boolean> {
    const isFirst = !this.#isDraining
    this.#isDraining = true
    this.#wakeUp()
    const { member } = this.#parts
    if (isFirst) {
      member.describe({ isDraining: true })
      // If this heartbeat fails, the next one reports it.
      void member.beat().catch(() => {})
    }
    this.#draining ??= this.#drain(timeoutMs)
    return this.#draining
  }

  async stop(): Promise<void> {
    const draining = this.drain()
    this.#abortAll()
    await draining
  }

  async #drain(timeoutMs: number | undefined): Promise<boolean> {
    let isAborted = false
    const cancel =
      timeoutMs === undefined
        ? () => {}
        : this.#clock.after(timeoutMs, () => {
            isAborted = this.#calls.size > 0
            this.#abortAll()
          })
    await this.#looping
    while (this.#kept.size > 0) await Promise.all(this.#kept)
    cancel()
    for (const stop of this.#stops) stop()
    this.#cancelCheck?.()
    return !isAborted
  }

  #abortAll(): void {
    for (const call of this.#calls.values()) call.abort(BY_WORKER)
  }

  #hear(place: string): void {
    if (!this.#covers(place)) return
    if (!this.#queues?.names.includes(place)) this.#queues = undefined
    this.#wakeUp()
  }

  #covers(place: string): boolean {
    return labelsOfPlace(place)?.every((label) => this.labels.includes(label)) ?? false
  }

  async #loop(): Promise<void> {
    while (!this.#isDraining) {
      const free = this.#parts.concurrency - this.#calls.size
      let hasFound = false
      try {
        hasFound = free > 0 && !this.#parts.member.isCut && (await this.#takeJobs(free))
      } catch (error) {
        this.#log('warn', `Jobs could not be taken: ${messageOf(error)}`)
      }
      if (!hasFound && !this.#isDraining) await this.#idle(this.#calls.size >= this.#parts.concurrency)
    }
  }

  /** Waits for an event, for the end of a call, or until it is time to look again. */
  async #idle(isFull: boolean): Promise<void> {
    // Something may have happened in the meantime.
    if (!this.#isAwake)
      await new Promise<void>((resolve) => {
        const cancel = isFull ? () => {} : this.#clock.after(IDLE_MS, () => this.#wakeUp())
        this.#onWake = () => {
          cancel()
          resolve()
        }
      })
    this.#onWake = undefined
    this.#isAwake = false
  }

  #wakeUp(): void {
    this.#isAwake = true
    this.#onWake?.()
  }

  /** Takes jobs from all queues in turn, starting with another one each time. */
  async #takeJobs(free: number): Promise<boolean> {
    const names = await this.#queueNames()
    let left = free
    for (let index = 0; index < names.length && left > 0 && !this.#isDraining; index++) {
      const name = names[(this.#first + index) % names.length]!
      const jobs = await this.#parts.queue.take(name, left)
      if (jobs.length > 0) left -= await this.#begin(name, jobs)
    }
    this.#first++
    return left < free
  }

  async #queueNames(): Promise<readonly string[]> {
    const now = this.#clock.now()
    if (this.#queues && now - this.#queues.at < QUEUES_MS) return this.#queues.names
    const names = (await this.#parts.queue.list()).filter((name) => this.#covers(name))
    this.#queues = { names, at: now }
    return names
  }

  /** Claims the calls of jobs and starts them. A job that is not signed, has expired or is claimed is removed. */
  async #begin(queue: string, delivered: readonly QueuedJob[]): Promise<number> {
    const { queue: jobs } = this.#parts
    // By their ids: a job may be delivered twice, even together.
    const open = new Map(delivered.flatMap(({ body }) => this.#open(queue, body) ?? []).map((job) => [job.id, job]))
    const claimed = open.size === 0 ? [] : await this.#claim([...open.keys()])
    const removing = jobs.remove(
      queue,
      delivered.map(({ id }) => id),
    )
    // Those that stay are delivered again, and found to be claimed.
    this.#keep(removing.catch(() => {}))
    for (const id of claimed) this.#keep(this.#execute(open.get(id)!))
    return claimed.length
  }

  /** Claims calls, again after a failure; then the store says which this worker has, because an answer may be lost. */
  async #claim(ids: readonly string[]): Promise<readonly string[]> {
    const { member, runtime } = this.#parts
    const { store } = runtime
    for (let isFirst = true; ; isFirst = false) {
      try {
        if (member.isCut) throw member.cutOff()
        const claimed = await store.workerCalls.claim(ids, { worker: this.id, now: this.#clock.now() })
        if (isFirst) return claimed
        const states = await store.workerCalls.look(ids)
        const own = states.filter(({ state, worker }) => state === 'running' && worker === this.id)
        return own.map(({ id }) => id).filter((id) => !this.#claimed.has(id))
      } catch (error) {
        if (this.#isDraining && member.isCut) throw error
        this.#log('warn', `Jobs could not be claimed: ${messageOf(error)}`)
        await this.#pause()
      }
    }
  }

  #open(queue: string, body: string): CallJob | undefined {
    try {
      return this.#parts.seal.openJob(body, { queue, now: this.#clock.now() })
    } catch (error) {
      this.#log('warn', `A job of ${queue} was refused: ${messageOf(error)}`)
      return undefined
    }
  }

  /** Adds work that a drain waits for. */
  #keep(work: Promise<void>): void {
    const kept = work
      .catch((error) => this.#log('warn', `A result could not be kept: ${messageOf(error)}`))
      .finally(() => this.#kept.delete(kept))
    this.#kept.add(kept)
  }

  async #execute(job: CallJob): Promise<void> {
    const { runtime, seal } = this.#parts
    const controller = new AbortController()
    this.#calls.set(job.id, controller)
    this.#claimed.add(job.id)
    const progress = new ProgressRelay(this.#clock, (content) => this.#relay(job.id, content))
    const outcome = await executeJob(runtime, job, {
      signal: controller.signal,
      confirm: () => this.#confirm(job),
      onEvent: (event) => {
        if (event.type === 'call-progressed') progress.add(event.content)
      },
    })
    this.#calls.delete(job.id)
    // The next call starts while the result is written.
    this.#wakeUp()
    progress.end()
    const sealed = seal.sealOutcome(outcome)
    const result = sealed.length <= MAX_INLINE_CHARS ? sealed : await this.#inParts(job.id, sealed)
    const isKept = await this.#finish(job.id, result)
    this.#claimed.delete(job.id)
    if (!isKept) return this.#log('warn', 'The result was discarded: nobody waits for it any more.', job)
    this.#ended.announce(job.id)
    this.#log('info', outcome.error ? `ended with ${outcome.error.code}` : 'ended', job)
  }

  /** Before a side effect: the process of the run waits, and this one counts as alive. */
  async #confirm({ id, tool, run }: CallJob): Promise<void> {
    const { member, runtime } = this.#parts
    const { store } = runtime
    const [stopped] = await store.workerCalls.stopped([id], this.id)
    if (stopped === undefined && !member.isCut) return
    const message = `${tool} was stopped before a side effect: the process of run ${run} does not wait for it any more.`
    throw new ToolError('WORKER_LOST', message)
  }

  /** Stores the result, and tries again after a failure: the database may be away for a moment. */
  async #finish(id: string, result: string): Promise<boolean> {
    const { member, runtime } = this.#parts
    const { store } = runtime
    for (;;) {
      try {
        return await store.workerCalls.finish(id, { worker: this.id, result })
      } catch (error) {
        if (member.isCut) throw error
        await this.#pause()
      }
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#clock.after(IDLE_MS, resolve))
  }

  async #inParts(id: string, sealed: string): Promise<string> {
    const content = Buffer.from(sealed)
    const upload = `worker/${id}/outcome`
    const parts = await putParts(this.#parts.runtime.store.blobs, upload, content, this.#clock.now())
    return JSON.stringify({ upload, parts, hash: sha256(content) })
  }

  #relay(id: string, content: WorkerProgress): void {
    const body = this.#parts.seal.sealProgress(id, content)
    const { store } = this.#parts.runtime
    const at = this.#clock.now()
    // Progress is not part of the result; it may be lost.
    void (async () => store.events.append({ topic: WORKER_EVENTS.progressed, body, at }))().catch(() => {})
  }

  #checkLater(): void {
    this.#cancelCheck = this.#clock.after(CHECK_MS, () => void this.#check(), { background: true })
  }

  /** Stops the calls that nobody waits for, in case an event was missed. */
  async #check(): Promise<void> {
    try {
      const ids = [...this.#calls.keys()]
      const { store } = this.#parts.runtime
      const stopped = ids.length === 0 ? [] : await store.workerCalls.stopped(ids, this.id)
      for (const id of stopped) this.#calls.get(id)?.abort(BY_RUN)
    } catch {
      // The store does not answer now. If that lasts, the process is cut off, and all its calls are stopped.
    }
    if (!this.#isDraining || this.#kept.size > 0) this.#checkLater()
  }

  #log(level: WorkerLogEntry['level'], message: string, job?: CallJob): void {
    this.#parts.onLog?.({ level, message, ...(job && { callId: job.callId, tool: job.tool }) })
  }
}
