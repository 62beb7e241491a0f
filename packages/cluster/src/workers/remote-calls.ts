import { randomUUID } from 'node:crypto'
import { type Clock, type JobQueue, messageOf, type Store, ToolError } from '@tool-hub/core'
import { once, parseJson } from '@tool-hub/core/lib'
import type { CallPlace, ExecuteOptions, RunState, Runtime } from '@tool-hub/runtime/hub'
import { type DecidedCall, emitEarly, keyOf, labelCall, labelLost, markReadable } from '@tool-hub/runtime/hub/pipeline'
import type { EventBody } from '@tool-hub/runtime/records/log'
import type { ClusterMember } from '../membership/cluster-member.ts'
import type { EndedWorkerCall, StoredWorkerCall } from '../store/types.ts'
import { errorOf } from './execute-job.ts'
import { type CallJob, definitionOf, type JobOutcome, readParts, WORKER_SECRET, WorkerSeal } from './job.ts'
import { Announcer, announced, WORKER_EVENTS } from './worker-events.ts'

/** What calls for workers need. */
interface RemoteCallsOptions {
  readonly store: Store
  /** Opens the queue of the store. */
  readonly open: () => Promise<JobQueue>
  readonly clock: Clock
  readonly member: ClusterMember
}

/** A call that waits for its worker. */
interface Pending {
  readonly id: string
  readonly jobId: string
  readonly queue: string
  readonly runtime: Runtime
  readonly run: RunState
  readonly call: DecidedCall
  readonly place: CallPlace
  /** Whether its result has been read. */
  isEnding?: boolean
  /** Whether the store did not know it when it was last asked. */
  isMissing?: boolean
  /** Why its job may not be in the queue. */
  unsent?: unknown
  resolve(value: unknown): void
  reject(error: unknown): void
}

const POLL_MS = 500
/** How long after its end a job is still accepted, because the clocks of machines differ. */
const EXPIRY_GRACE_MS = 60_000
const MAX_RESERVE_MS = 1_000
/** The lines that a worker may add to the record of the run. */
const LINES = ['command-connected', 'command-tainted', 'run-later-changed', 'call-pending'] as const
type WorkerLine = Extract<EventBody, { type: (typeof LINES)[number] }>

/** Executes decided calls on workers: queues them, waits for their outcomes, and stops them. */
export class RemoteCalls {
  readonly #store: Store
  readonly #clock: Clock
  readonly #member: ClusterMember
  readonly #pending = new Map<string, Pending>()
  readonly #queued: Announcer
  readonly #stopped: Announcer
  readonly #open: () => Promise<{ readonly queue: JobQueue; readonly seal: WorkerSeal }>
  #stopWatching: (() => void) | undefined
  #cancelPoll: (() => void) | undefined

  constructor({ store, open, clock, member }: RemoteCallsOptions) {
    this.#store = store
    this.#clock = clock
    this.#member = member
    this.#queued = new Announcer(store.events, clock, WORKER_EVENTS.queued)
    this.#stopped = new Announcer(store.events, clock, WORKER_EVENTS.stopped)
    this.#open = once(async () => {
      // Heartbeats show this process which workers are alive, and show workers that somebody waits.
      await member.beat()
      const [queue, secret] = await Promise.all([open(), store.settings.secret(WORKER_SECRET)])
      this.#stopWatching = store.events.watch(({ topic, body }) => this.#hear(topic, body))
      return { queue, seal: new WorkerSeal(secret) }
    })
  }

  /** Executes a call on a worker. Rejects with the error of the tool, NO_WORKER or WORKER_LOST. */
  async execute(
    runtime: Runtime,
    run: RunState,
    call: DecidedCall,
    { place, timeLeftMs }: ExecuteOptions,
  ): Promise<unknown> {
    const queue = place.name
    const opened = await this.#open().catch((error) => Promise.reject(this.#neverStarted(call, error)))
    const id = `${call.call.id}#${call.call.execution?.attempts}`
    const { id: owner } = this.#member
    const epoch = this.#member.leaseOf(call.call.run)?.epoch
    await markReadable(runtime, run, call)
    const job = jobOf(runtime, run, call, { id, place: queue, timeoutMs: timeLeftMs, now: this.#clock.now() })
    const body = opened.seal.sealJob(job)
    let pending!: Pending
    const outcome = new Promise((resolve, reject) => {
      pending = { id, jobId: randomUUID(), queue, runtime, run, call, place, resolve, reject }
    })
    try {
      await this.#store.workerCalls.add({ id, queue, run: call.call.run, owner, epoch, queuedAt: this.#clock.now() })
    } catch (error) {
      // It may be there nevertheless: the answer was lost.
      void (async () => this.#store.workerCalls.stop(id))().catch(() => {})
      throw this.#neverStarted(call, error)
    }
    this.#pending.set(id, pending)
    const stopListening = call.call.onStop(() => void this.#stop(pending, call.call.abortReason))
    const reserveMs = Math.min(MAX_RESERVE_MS, timeLeftMs / 10)
    const cancelTimer = this.#clock.after(
      timeLeftMs - reserveMs,
      () => void this.#endIfQueued(pending, notTaken(pending, timeLeftMs)),
    )
    this.#cancelPoll ??= this.#pollLater()
    try {
      await opened.queue.send(queue, { id: pending.jobId, body })
      this.#queued.announce(queue)
    } catch (error) {
      // The job may have been sent nevertheless: a worker that has it continues.
      pending.unsent = error
      void this.#endIfQueued(pending, error)
    }
    try {
      return await outcome
    } catch (error) {
      if (ToolError.is(error) && error.code === 'WORKER_LOST') labelLost(runtime, run, call)
      throw error
    } finally {
      stopListening()
      cancelTimer()
      this.#pending.delete(id)
    }
  }

  close(): void {
    this.#stopWatching?.()
    this.#cancelPoll?.()
  }

  /** Stops a call. One that no worker has ends now; otherwise the worker stops it, and its outcome is awaited. */
  async #stop(pending: Pending, reason: unknown): Promise<void> {
    const { id, call } = pending
    try {
      const state = await this.#store.workerCalls.stop(id)
      if (state === 'queued') return this.#endQueued(pending, reason)
      if (state === 'running') this.#stopped.announce(id)
    } catch {
      // Without the store no worker can be notified: the poll finds out what happened to the call.
      if (call.call.ended) this.#pending.delete(id)
    }
  }

  /** Ends a call that no worker has taken; nothing was executed. */
  async #endIfQueued(pending: Pending, reason: unknown): Promise<void> {
    const { call, id } = pending
    try {
      const [known] = await this.#store.workerCalls.look([id])
      if (known?.state !== 'queued' || call.call.isStopped) return
      if ((await this.#store.workerCalls.stop(id)) !== 'queued') return
    } catch {
      // Whether a worker has it is not known: the poll asks again, and the time limit of the call ends it.
      return
    }
    this.#endQueued(pending, reason)
  }

  #endQueued({ jobId, queue, call, reject }: Pending, reason: unknown): void {
    reject(this.#neverStarted(call, reason))
    void this.#open()
      .then((opened) => opened.queue.remove(queue, [jobId]))
      // A worker that takes the job finds nothing to claim.
      .catch(() => {})
  }

  /** The call may be repeated, also with the same idempotency key. */
  #neverStarted(call: DecidedCall, reason: unknown): unknown {
    const execution = call.call.execution!
    execution.attempts--
    if (execution.attempts === 0) execution.enteredMark = undefined
    if (ToolError.is(reason)) return reason
    return new ToolError('NO_WORKER', `${call.call.name} could not be sent to a worker: ${messageOf(reason)}`, {
      hint: 'Look at the log of the database and try again.',
      cause: reason,
    })
  }

  #hear(topic: string, body: string): void {
    if (topic === WORKER_EVENTS.ended) {
      const ids = announced(body).filter((id) => this.#pending.has(id))
      if (ids.length > 0) void this.#settle(ids)
    } else if (topic === WORKER_EVENTS.progressed) void this.#progress(body)
  }

  async #progress(sealed: string): Promise<void> {
    const id = String((parseJson(sealed) as { readonly id?: unknown } | undefined)?.id)
    const pending = this.#pending.get(id)
    if (!pending || pending.call.call.ended) return
    try {
      const { seal } = await this.#open()
      const { id: of, content } = seal.openProgress(sealed)
      const { runtime, run, call } = pending
      if (of !== id) return
      emitEarly(runtime, run, call.call, { type: 'call-progressed', callId: call.call.id, content })
    } catch {
      // Progress that nobody signed is not shown.
    }
  }

  #pollLater(): () => void {
    return this.#clock.after(POLL_MS, () => void this.#poll(), { background: true })
  }

  /** Reads the state of the calls and whether their workers are alive, in case an event was missed. */
  async #poll(): Promise<void> {
    try {
      const waiting = [...this.#pending.values()]
      const states = await this.#store.workerCalls.look(waiting.map(({ id }) => id))
      endUnknown(waiting, new Set(states.map(({ id }) => id)))
      const ended = states.filter(({ state }) => state === 'ended').map(({ id }) => id)
      if (ended.length > 0) await this.#settle(ended)
      for (const state of states) await this.#endIfLost(state)
      const queued = new Set(states.filter(({ state }) => state === 'queued').map(({ id }) => id))
      for (const each of waiting)
        if (each.unsent !== undefined && queued.has(each.id)) await this.#endIfQueued(each, each.unsent)
      await this.#endRevoked(waiting.filter(({ id }) => queued.has(id)))
    } catch {
      // The store does not answer now: the time limit of each call ends it.
    }
    this.#cancelPoll = this.#pending.size > 0 ? this.#pollLater() : undefined
  }

  async #endIfLost({ id, worker }: StoredWorkerCall): Promise<void> {
    const pending = this.#pending.get(id)
    if (!pending || worker === undefined || this.#member.isProcessAlive(worker)) return
    // If it has ended meanwhile, the next poll finds the result.
    if (!(await this.#store.workerCalls.abandon(id, worker))) return
    pending.place.process = worker
    pending.reject(lost(pending.call, `The worker ${worker} ended while it executed ${pending.call.call.name}`))
  }

  /** Ends calls that no worker has, and whose principal no longer exists: workers cannot read the tokens. */
  async #endRevoked(queued: readonly Pending[]): Promise<void> {
    const known = new Map<string, boolean>()
    for (const pending of queued) {
      const {
        identity: { rights, principalNow },
      } = pending.runtime
      if (!rights) continue
      if (!known.has(rights.name)) known.set(rights.name, (await principalNow(rights)) !== undefined)
      if (known.get(rights.name)) continue
      const message = `The principal ${rights.name} of ${pending.call.call.name} no longer exists.`
      await this.#stop(pending, new ToolError('FORBIDDEN', message))
    }
  }

  async #settle(ids: readonly string[]): Promise<void> {
    const { workerCalls } = this.#store
    try {
      const ended = await workerCalls.results(ids)
      await Promise.all(ended.map((call) => this.#end(call)))
      await workerCalls.remove(ended.map(({ id }) => id))
    } catch {
      // The next poll tries again; what nobody waits for is swept.
    }
  }

  async #end({ id, worker, result }: EndedWorkerCall): Promise<void> {
    const pending = this.#pending.get(id)
    if (!pending || pending.isEnding) return
    const { call } = pending
    pending.isEnding = true
    pending.place.process = worker
    try {
      const { seal } = await this.#open()
      const outcome = seal.openOutcome(await this.#whole(result), id)
      await this.#apply(pending, outcome)
      if (outcome.error?.code === 'NO_WORKER') pending.reject(this.#neverStarted(call, errorOf(outcome.error)))
      else if (outcome.error) pending.reject(errorOf(outcome.error))
      else pending.resolve(outcome.value)
    } catch (error) {
      // The call was executed, and its result cannot be read.
      const message = `The result of ${call.call.name} could not be read: ${messageOf(error)}`
      pending.reject(new ToolError('WORKER_LOST', message, { cause: error }))
    }
  }

  /** Returns the sealed outcome, which is in parts if it is large. */
  async #whole(result: string): Promise<string> {
    const stored = parseJson(result) as { readonly upload?: string; readonly parts?: number; readonly hash?: string }
    const { upload, parts, hash } = stored ?? {}
    if (upload === undefined || parts === undefined || hash === undefined) return result
    const content = await readParts(this.#store.blobs, { upload, parts, hash })
    if (!content) throw new ToolError('NOT_FOUND', 'A part of the result is missing.')
    return new TextDecoder().decode(content)
  }

  /** Adds what the call collected on the worker, as if it had been executed here. */
  async #apply({ runtime, run, call }: Pending, outcome: JobOutcome): Promise<void> {
    runtime.untrusted.addAll(outcome.labels)
    for (const source of outcome.taintedBy) run.taint(call.call.id, source)
    if (outcome.isUntrusted) labelCall(call.call)
    if (call.call.ended) return
    for (const { upload, parts, sha256: hash, name, mediaType } of outcome.artifacts) {
      const content = await readParts(this.#store.blobs, { upload, parts, hash })
      if (content && run.records)
        call.call.report.artifacts.push(await run.records.putArtifact(content, { name, mediaType }))
      else call.call.report.notices.push(`The artifact ${name} was lost on its way from the worker.`)
    }
    call.call.report.evidence.push(...outcome.evidence)
    call.call.report.notices.push(...outcome.notices)
    if (outcome.truncated) call.call.report.truncated ??= outcome.truncated
    if (outcome.hasChanged) call.call.hasChanged = true
    const {
      call: { id: callId, name: tool },
    } = call
    for (const line of outcome.lines) if (isWorkerLine(line)) run.records?.append({ ...line, callId, tool })
  }
}

/** Ends calls that the store does not know any more, at the second look: its answer to a change was lost. */
function endUnknown(waiting: readonly Pending[], known: ReadonlySet<string>): void {
  for (const pending of waiting) {
    if (pending.isEnding || known.has(pending.id)) continue
    if (pending.isMissing)
      pending.reject(lost(pending.call, `What a worker did with ${pending.call.call.name} was lost`))
    pending.isMissing = true
  }
}

function notTaken({ queue, call }: Pending, timeLeftMs: number): ToolError {
  const seconds = Math.round(timeLeftMs / 100) / 10
  return new ToolError('NO_WORKER', `No ${queue} took ${call.call.name} within ${seconds} s; it was not executed.`)
}

function isWorkerLine(line: EventBody): line is WorkerLine {
  return LINES.some((type) => type === line.type)
}

function jobOf(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  sent: Pick<CallJob, 'id' | 'place' | 'timeoutMs'> & { readonly now: number },
): CallJob {
  const { session, callerKind, grants, untrusted } = call.call.options
  const { id, place, timeoutMs, now } = sent
  return {
    id,
    place,
    callId: call.call.id,
    run: call.call.run,
    tool: call.call.name,
    wire: call.call.wire,
    definition: definitionOf(call.tool),
    input: call.valid.input,
    capabilities: [...call.valid.capabilities],
    targets: call.valid.targets.map(({ capability, value }) => ({ capability, value })),
    commands: call.valid.commands.map(({ value, cwd, env }) => ({ value, cwd, env: [...env] })),
    sandbox: call.valid.sandbox,
    rule: call.decision.rule,
    constraints: { ...call.decision.constraints },
    approvedBy: call.call.approvedBy,
    caller: call.call.caller,
    principal: runtime.identity.rights && { ...runtime.identity.rights },
    options: { session, callerKind, grants: grants && [...grants], untrusted, idempotencyKey: keyOf(call.call) },
    taintedBy: [...run.taintedBy],
    timeoutMs: Math.max(1, timeoutMs),
    expiresAt: now + timeoutMs + EXPIRY_GRACE_MS,
  }
}

function lost({ tool }: DecidedCall, what: string): ToolError {
  const retryable = tool.tool.retry !== undefined || !tool.hasEffects
  return new ToolError('WORKER_LOST', `${what}; its effect is unknown.`, {
    retryable,
    ...(retryable && { hint: 'Repeat the call: the tool says that this is safe.' }),
  })
}
