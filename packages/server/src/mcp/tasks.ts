import { randomUUID } from 'node:crypto'
import { type CallToolResult, ProtocolError, ProtocolErrorCode, type Result } from '@modelcontextprotocol/server'
import { type Clock, ToolError } from '@tool-hub/core'
import { cutHead } from '@tool-hub/runtime/limits'
import type { OngoingCall } from './call/ongoing-call.ts'

/** The extension that declares tasks in the modern era. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

const MAX_TASKS = 50
const DEFAULT_TTL_MS = 3_600_000
const MAX_TTL_MS = 24 * 3_600_000
const MIN_TTL_MS = 1_000

/** How a task ended. */
export type TaskEnd =
  | { readonly type: 'result'; readonly result: CallToolResult }
  | { readonly type: 'error'; readonly error: ProtocolError }
  | { readonly type: 'cancelled' }

/** A call whose result the client requests later. */
export interface CallTask {
  readonly id: string
  readonly call: OngoingCall
  readonly createdAt: string
  readonly ttlMs: number
  updatedAt: string
  /** What the tool last said of how far it is. */
  message: string | undefined
  end: TaskEnd | undefined
}

/** The tasks of one session; their ids are valid only there. */
export class SessionTasks {
  readonly #clock: Clock
  readonly #ownId: (id: string) => string
  readonly #tasks = new Map<string, CallTask>()
  readonly #timers = new Map<string, () => void>()

  constructor(clock: Clock, ownId: (id: string) => string = (id) => id) {
    this.#clock = clock
    this.#ownId = ownId
  }

  /** Whether one more can be kept; one that has ended makes room. */
  get hasRoom(): boolean {
    if (this.#tasks.size < MAX_TASKS) return true
    return [...this.#tasks.values()].some(({ end }) => end !== undefined)
  }

  checkRoom(): void {
    if (this.hasRoom) return
    const message = `This session has ${MAX_TASKS} tasks under way and takes no more.`
    throw new ProtocolError(ProtocolErrorCode.InternalError, message)
  }

  /** Makes a call a task. When its time is over it is forgotten, and stopped if it still runs. */
  add(call: OngoingCall, ttlMs: number | null | undefined): CallTask {
    this.checkRoom()
    if (this.#tasks.size >= MAX_TASKS) this.#forget([...this.#tasks.values()].find(({ end }) => end !== undefined)!)
    const now = this.#now()
    const task: CallTask = {
      id: this.#ownId(randomUUID()),
      call,
      createdAt: now,
      updatedAt: now,
      ttlMs: Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, ttlMs ?? DEFAULT_TTL_MS)),
      message: undefined,
      end: undefined,
    }
    this.#tasks.set(task.id, task)
    this.#timers.set(
      task.id,
      this.#clock.after(task.ttlMs, () => this.#forget(task), { background: true }),
    )
    call.ended.then(
      (result) => this.#end(task, { type: 'result', result }),
      (error) => this.#end(task, { type: 'error', error: asProtocolError(error) }),
    )
    return task
  }

  get(id: string): CallTask {
    const task = this.#tasks.get(id)
    if (task) return task
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Task not found: it never was, or its time is over.')
  }

  list(): readonly CallTask[] {
    return [...this.#tasks.values()]
  }

  /** Notes what the tool said of how far it is. */
  note(task: CallTask, message: string): void {
    task.message = cutHead(message, 300)
    task.updatedAt = this.#now()
  }

  /** Stops the call of a task; false when it had ended. */
  cancel(task: CallTask): boolean {
    if (task.end) return false
    this.#end(task, { type: 'cancelled' })
    task.call.abort(new ToolError('ABORTED', 'The client cancelled the task.'))
    return true
  }

  clear(): void {
    for (const task of this.list()) this.#forget(task)
  }

  #end(task: CallTask, end: TaskEnd): void {
    if (task.end) return
    task.end = end
    task.message = undefined
    task.updatedAt = this.#now()
  }

  #forget(task: CallTask): void {
    this.#tasks.delete(task.id)
    this.#timers.get(task.id)?.()
    this.#timers.delete(task.id)
    if (!task.end) task.call.abort(new ToolError('ABORTED', 'The time of the task is over.'))
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString()
  }
}

function asProtocolError(error: unknown): ProtocolError {
  return error instanceof ProtocolError ? error : new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error')
}

const POLL_INTERVAL_MS = 1_000

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** A task as the legacy era knows it: a call whose tool failed is a task that failed. */
export function legacyTask(task: CallTask) {
  const { end } = task
  const hasFailed = end?.type === 'error' || (end?.type === 'result' && end.result.isError === true)
  return {
    ...commonOf(task, hasFailed ? 'failed' : statusOf(task)),
    ttl: task.ttlMs,
    pollInterval: POLL_INTERVAL_MS,
  }
}

/** A task as the extension of the modern era knows it: it fails only if it has no result at all. */
export function modernTask(task: CallTask) {
  return { ...commonOf(task, statusOf(task)), ttlMs: task.ttlMs, pollIntervalMs: POLL_INTERVAL_MS }
}

/** The same with what its status brings: the result, the error, what is asked. */
export function detailedTask(task: CallTask): Result {
  const { end, call } = task
  const form = modernTask(task)
  if (end?.type === 'result') return { ...form, result: { resultType: 'complete', ...end.result } }
  if (end?.type === 'error') return { ...form, error: { code: end.error.code, message: end.error.message } }
  if (form.status !== 'input_required') return form
  const asks = call
    .asks()
    .map(({ key, form }) => [key, { method: 'elicitation/create', params: { mode: 'form', ...form } }])
  return { ...form, inputRequests: Object.fromEntries(asks) }
}

function statusOf({ end, call }: CallTask): Status {
  if (end?.type === 'cancelled') return 'cancelled'
  if (end?.type === 'error') return 'failed'
  if (end) return 'completed'
  return call.asks().length > 0 ? 'input_required' : 'working'
}

function commonOf({ id, message, createdAt, updatedAt }: CallTask, status: Status) {
  return {
    taskId: id,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt,
    lastUpdatedAt: updatedAt,
  }
}
