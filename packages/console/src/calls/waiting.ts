import { useMemo } from 'react'
import { api } from '../api/session.ts'
import type { Approval, CallEntry } from '../api/types.ts'
import { useResource } from '../api/use-resource.ts'

/** A call that waits for a person, as lists of calls show it: it is recorded only after the answer. */
export function waitingCall({ id, callId, run, tool, caller, askedAt, input, targets }: Approval): CallEntry {
  const command = (input as { command?: unknown } | null)?.command
  return {
    callId,
    run,
    seq: Number.MAX_SAFE_INTEGER,
    tool,
    caller,
    status: 'waiting',
    startedAt: Date.parse(askedAt),
    request: typeof command === 'string' ? command : targets[0],
    rule: id,
  }
}

/** Whether the call itself waits: nobody waits for an answer that is kept for a later call. */
export function isHeld({ state, isLeft, isOrphan }: Approval): boolean {
  return state === 'waiting' && isLeft === undefined && !isOrphan
}

const NONE: readonly Approval[] = []

/** The pending approvals; all pages share one request. */
export function useWaiting(): readonly Approval[] {
  const { data = NONE } = useResource(['approvals', 'waiting'], () => api.approvals.list(), {
    refreshOn: ['approval'],
  })
  return data
}

/** The calls that wait for a person, and the address where each is answered. */
export function useWaitingCalls(): {
  readonly calls: readonly CallEntry[]
  pathOf(callId: string): string | undefined
} {
  const approvals = useWaiting()
  return useMemo(() => {
    const held = approvals.filter(isHeld)
    const paths = new Map(held.map(({ id, callId }) => [callId, `/approvals/${encodeURIComponent(id)}`]))
    return { calls: held.map(waitingCall), pathOf: (callId) => paths.get(callId) }
  }, [approvals])
}

/** Adds waiting calls to a list, newest first; of a call that is in the list, the list is right. */
export function withWaiting(rows: readonly CallEntry[], waiting: readonly CallEntry[]): readonly CallEntry[] {
  const known = new Set(waiting.length === 0 ? [] : rows.map(({ callId }) => callId))
  const added = waiting.filter(({ callId }) => !known.has(callId))
  return added.length === 0 ? rows : [...rows, ...added].sort((a, b) => b.startedAt - a.startedAt || b.seq - a.seq)
}
