import type { FeatureHost, ToolResult } from '../../core/index.ts'
import type { SessionMessage, SessionWork } from './types.ts'

/** What a runner gets of a session. */
export interface SessionTask {
  /** Its name in the options. */
  readonly runner: string
  readonly work: SessionWork
  /** What waits in its inbox, without waiting for more. */
  readonly take: () => Promise<readonly SessionMessage[]>
  readonly host: Pick<FeatureHost, 'startProgram' | 'webFetch' | 'secret' | 'hide' | 'clock'>
}

/** What begins a session, for one who reads JSON. */
export function taskMessage({ id, label, task, tools }: SessionWork) {
  return { type: 'task', session: id, ...(label !== undefined && { label }), task, tools } as const
}

/** The result of a call, for one who reads JSON: what a model would get of it. */
export function resultMessage(id: string, result: ToolResult) {
  const { ok, status, content, meta, error } = result
  const isUntrusted = meta.labels?.includes('untrusted') === true
  return { id, ok, status, content, ...(error && { error }), ...(isUntrusted && { isUntrusted }) }
}
