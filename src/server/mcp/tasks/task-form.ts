import type { Result } from '@modelcontextprotocol/server'
import type { CallTask } from './session-tasks.ts'

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

/** A task as the extension of the modern era knows it: it fails only when there is no result at all. */
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
