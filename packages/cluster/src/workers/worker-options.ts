import { sortedLabels, ToolError } from '@tool-hub/core'
import type { StoredProcess, WorkerQueueState } from '../store/types.ts'

/** Which calls a worker takes. */
export interface WorkerOptions {
  /** Its labels: it takes calls for `worker`, and for places all of whose labels it has. Default: none. */
  readonly labels?: readonly string[]
  /** How many calls it executes concurrently. Default: 4. */
  readonly concurrency?: number
  /** Called with what happens to jobs, for a log. Entries contain no secrets and no arguments. */
  readonly onLog?: (entry: WorkerLogEntry) => void
}

/** What happened to a job. */
export interface WorkerLogEntry {
  /** How much it matters. */
  readonly level: 'info' | 'warn'
  /** What happened. */
  readonly message: string
  /** Id of the call, if the job could be read. */
  readonly callId?: string
  /** Canonical name of the tool, if the job could be read. */
  readonly tool?: string
}

/** A worker that takes calls. */
export interface RunningWorker {
  /** Id of this process among those that share the store. */
  readonly id: string
  /** Its labels, sorted. */
  readonly labels: readonly string[]
  /** How many calls it executes concurrently at most. */
  readonly concurrency: number
  /** How many calls it executes now. */
  readonly running: number
  /** Takes no more calls, and stops the running ones after `timeoutMs`. Returns whether all ended by themselves. */
  drain(options?: { readonly timeoutMs?: number }): Promise<boolean>
  /** Takes no more calls and stops the running ones. */
  stop(): Promise<void>
}

/** The calls that wait for workers, and the workers. */
export interface WorkerStates {
  /** Each place that calls wait for or are executed at, such as `worker:gpu`. */
  readonly queues: readonly WorkerQueueState[]
  /** The workers, also those that have missed their heartbeats within the last day. */
  readonly workers: readonly StoredProcess[]
}

const DEFAULT_CONCURRENCY = 4
const MAX_CONCURRENCY = 1_000

/** Throws CONFIG_INVALID for invalid labels or an invalid concurrency. */
export function checkWorkerOptions({ labels = [], concurrency = DEFAULT_CONCURRENCY }: WorkerOptions) {
  const sorted = sortedLabels(labels)
  if (!sorted)
    throw new ToolError('CONFIG_INVALID', `The labels ${JSON.stringify(labels)} of a worker are invalid.`, {
      hint: 'Use at most 8 labels of lower-case letters, digits and -, each at most 32 characters.',
    })
  if (!Number.isSafeInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY)
    throw new ToolError('CONFIG_INVALID', `The concurrency of a worker cannot be ${String(concurrency)}.`, {
      hint: `Use a whole number from 1 to ${MAX_CONCURRENCY}.`,
    })
  return { labels: sorted, concurrency }
}
