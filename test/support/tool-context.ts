import type { Evidence } from '../../packages/core/src/call.ts'
import type { BaseContext, RunCache } from '../../packages/core/src/tool.ts'

/** A context that remembers the evidence it was given. */
export type TestContext = BaseContext & { readonly collected: readonly Evidence[] }

/** What a test may set. */
export interface TestContextOptions {
  readonly now?: number
  readonly signal?: AbortSignal
}

/** A context for calling `execute` of a pure tool directly. */
export function toolContext({
  now = Date.parse('2026-01-02T03:04:05.678Z'),
  signal,
}: TestContextOptions = {}): TestContext {
  const collected: Evidence[] = []
  return {
    collected,
    callId: 'call-1',
    run: 'run-1',
    signal: signal ?? new AbortController().signal,
    cache: memoryCache(now),
    maxOutputChars: 30_000,
    constraints: {},
    now: () => now,
    progress: () => undefined,
    evidence: (evidence) => collected.push(evidence),
    notice: () => undefined,
    truncated: () => undefined,
    artifact: () => Promise.reject(new Error('this context keeps no artifacts')),
    pending: () => undefined,
    ask: () => Promise.reject(new Error('this context asks nobody')),
    call: () => Promise.reject(new Error('this context calls no tools')),
  }
}

function memoryCache(now: number): RunCache {
  const entries = new Map<string, { value: unknown; expiresAt: number | undefined }>()
  return {
    get: (key) => entries.get(key),
    set(key, value, { ttlMs } = {}) {
      entries.set(key, { value, expiresAt: ttlMs === undefined ? undefined : now + ttlMs })
      return { bytes: Buffer.byteLength(JSON.stringify(value)) }
    },
  }
}
