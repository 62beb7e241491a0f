import { createMemoryStore } from '@tool-hub/library/stores'
import { CallApprovals } from '@tool-hub/runtime/approvals'
import type { ApprovalReply, ApprovalRequest } from '../../packages/core/src/events.ts'
import { callerGone } from '../../packages/core/src/failures.ts'
import type { HubOptions } from '../../packages/core/src/options.ts'
import type { Store } from '../../packages/core/src/store.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'

/** A request that waits for a second, from the time at which `fakeClock` starts. */
export const request: ApprovalRequest = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  input: { path: 'a' },
  targets: ['write:fs /a'],
  rule: 'ask write:fs',
  reason: 'it writes',
  caller: 'test',
  requests: [],
  labels: [],
  views: [],
  history: [],
  coverage: { exact: 'this exact call' },
  hash: 'hash-1',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:00:01.000Z',
}
/** What the same call is found by. */
export const sameCall = { hash: request.hash, caller: request.caller }
/** How the request is answered, unless a test says more. */
export const bound = { hash: request.hash }
export const never: AbortSignal = new AbortController().signal
export const full = new Error('disk full')
export const hangs = () => new Promise<ApprovalReply>(() => {})
/** Everything that needs no time has happened. */
export const settled = () => new Promise(setImmediate)

/** The failure of a call that nobody could answer. */
export const unavailable = (why: string) => ({
  code: 'APPROVAL_UNAVAILABLE',
  message: `notes.save needs an approval and ${why}: it writes (ask write:fs)`,
  details: { approval: 'approval-1' },
})
/** The failure of a call whose request still waits. */
export const leftBehind = {
  ...unavailable('nobody has answered yet'),
  details: { approval: 'approval-1', waits: true },
  fix: {
    hint: 'approval-1 still waits for an answer. Repeat the same call: it continues to wait, or uses the answer.',
  },
}

/** An answer as another process stores it. */
export const storedYes = (by: string) => ({
  reply: '{"decision":"allow"}',
  by,
  via: 'cli',
  at: Date.parse(request.askedAt),
})

interface Options {
  readonly approve?: HubOptions['approve']
  readonly store?: Store
  readonly waitsInStore?: boolean
  readonly outlives?: boolean
}

/** A queue and its store; `background` has one entry for each timer that was set. */
export function newQueue({ store: given, approve, ...options }: Options = {}) {
  const fake = fakeClock()
  const background: (boolean | undefined)[] = []
  const clock = {
    ...fake,
    after(ms: number, callback: () => void, options?: { readonly background?: boolean }) {
      background.push(options?.background)
      return fake.after(ms, callback)
    },
  }
  const store = given ?? createMemoryStore({ now: clock.now })
  const open = () => new CallApprovals({ timeoutMs: 1000, clock, store, responder: approve, ...options })
  const stored = async () => (await store.approvals.find(request.id))!
  return { queue: open(), open, store, stored, background, clock: fake }
}

/** A call that waits until its request is in the store, which somebody watches where `isWatched`. */
export async function waiting(
  options: Options & { readonly request?: ApprovalRequest; readonly isWatched?: boolean } = {},
) {
  const { request: mine = request, isWatched = false, ...rest } = options
  const made = newQueue({ waitsInStore: true, ...rest })
  const stopWatching = isWatched ? made.queue.watch(() => {}) : () => {}
  const caller = new AbortController()
  const answer = made.queue.ask(mine, caller.signal, bound)
  answer.catch(() => {})
  await settled()
  const goAway = () => caller.abort(callerGone('The connection is closed.'))
  return { ...made, answer, caller, goAway, stopWatching }
}
