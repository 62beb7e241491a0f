import { ToolError } from '@tool-hub/core/errors'
import type { Scope } from '@tool-hub/core/protocol/shapes'
import { describe, expect, it } from 'vitest'
import type { CallOptions } from '../../../core/src/call-options.ts'
import type { CallMessage } from './messages.ts'
import { SessionCalls } from './session-calls.ts'
import type { Numbered, SessionPort } from './session-port.ts'

interface Made {
  readonly tool: string
  readonly input: unknown
  readonly options: CallOptions
  readonly end: (result: unknown) => void
  readonly fail: (error: unknown) => void
}

/** The calls of a session whose hub does what the test says, and the messages of the session. */
function callsOf({ most = 10, scopes = ['call'] as Scope[] } = {}) {
  const made: Made[] = []
  const sent: (Numbered & { mayDrop?: boolean })[] = []
  const again: number[] = []
  const complaints: { id: string | undefined; error: ToolError }[] = []
  const callDynamic = (tool: string, input: unknown, options: CallOptions) =>
    new Promise((end, fail) => made.push({ tool, input, options, end, fail }))
  const port = {
    caller: { name: 'token:ci', scopes: new Set(scopes) } as never,
    call: callDynamic as SessionPort['call'],
    isFull: false,
    /** Whether what was sent is still kept. */
    keeps: true,
    send: (message: Numbered, options: { readonly mayDrop?: boolean } = {}) => sent.push({ ...message, ...options }),
    sendEvent: () => {},
    sendAgain: (seq: number) => again.push(seq) > 0 && port.keeps,
    withdraw: () => true,
    complain: (error: unknown, id?: string) => complaints.push({ id, error: error as ToolError }),
  }
  return { calls: new SessionCalls(port as SessionPort, most), port, made, sent, again, complaints }
}

const call = (id: string, others: Partial<CallMessage> = {}): CallMessage => ({
  type: 'call',
  id,
  tool: 'test.tool',
  input: { n: 1 },
  onAsk: 'wait',
  ...others,
})
const settle = () => new Promise(setImmediate)
const TOO_MANY = {
  code: 'RATE_LIMITED',
  message: 'This session has 2 calls under way or not acknowledged.',
  fix: { hint: 'Wait for results, and say received, before you send more.' },
}

describe('a call over a session', () => {
  it('is made with all that the message says', async () => {
    const { calls, made, sent } = callsOf()
    const options = {
      run: 'run-1',
      session: 'session-1',
      purpose: 'a test',
      timeoutMs: 5,
      idempotencyKey: 'key',
      requestId: 'request',
      taskId: 'task',
      goalId: 'goal',
      dryRun: true,
      onAsk: 'return' as const,
    }
    calls.start(call('a', options))
    expect(made).toMatchObject([{ tool: 'test.tool', input: { n: 1 } }])
    expect(made[0]!.options).toEqual({ ...options, signal: expect.any(AbortSignal), onEvent: undefined })
    expect(calls.size).toBe(1)
    made[0]!.end({ ok: true })
    await settle()
    expect(sent).toEqual([{ type: 'result', id: 'a', result: { ok: true } }])
    expect(calls.size).toBe(0)
  })

  it('tells what happens on the way, except its end, when asked to', () => {
    const { calls, made, sent } = callsOf()
    calls.start(call('a', { stream: true }))
    for (const type of ['call-started', 'call-ended']) made[0]!.options.onEvent!({ type } as never)
    expect(sent).toEqual([{ type: 'progress', id: 'a', event: { type: 'call-started' }, mayDrop: true }])
  })

  it('that fails has an error as its end', async () => {
    const { calls, made, sent } = callsOf()
    calls.start(call('a'))
    made[0]!.fail(new ToolError('TOOL_NOT_FOUND', 'None.', { hint: 'Look.' }))
    await settle()
    const error = { code: 'TOOL_NOT_FOUND', message: 'None.', hint: 'Look.', retryable: false }
    expect(sent).toEqual([{ type: 'error', id: 'a', error }])
  })

  it('needs its scope', () => {
    const { calls, made, complaints } = callsOf({ scopes: ['read', 'approve', 'admin'] })
    calls.start(call('a'))
    expect([made, complaints]).toMatchObject([[], [{ id: 'a', error: { code: 'FORBIDDEN' } }]])
  })

  it('is refused when so many are under way', () => {
    const { calls, made, complaints } = callsOf({ most: 2 })
    for (const id of ['a', 'b', 'c']) calls.start(call(id))
    expect(made).toHaveLength(2)
    expect(complaints).toMatchObject([{ id: 'c', error: TOO_MANY }])
  })

  it('is made once, and its end is sent again while it is kept', async () => {
    const { calls, port, made, again, complaints } = callsOf()
    for (const _ of [1, 2]) calls.start(call('a'))
    made[0]!.end({ ok: true })
    await settle()
    calls.start(call('a'))
    expect([made.length, again, complaints]).toEqual([1, [1], []])
    port.keeps = false
    calls.start(call('a'))
    expect(made).toHaveLength(1)
    expect(complaints).toMatchObject([
      {
        id: 'a',
        error: {
          code: 'CONFLICT',
          message: 'The call "a" has its answer, which you said has come.',
          fix: { hint: 'Give every call an id of its own.' },
        },
      },
    ])
  })

  it('has a signal of its own as long as it runs; at most 64 are used again', async () => {
    const { calls, made } = callsOf({ most: 100 })
    for (let index = 0; index < 66; index++) calls.start(call(`first ${index}`))
    const first = new Set(made.map(({ options }) => options.signal))
    expect(first.size).toBe(66)
    for (const { end } of made.splice(0)) end({})
    await settle()
    for (let index = 0; index < 66; index++) calls.start(call(`then ${index}`))
    expect(made.filter(({ options }) => first.has(options.signal!))).toHaveLength(64)
  })
})

describe('calls of a client that does not acknowledge', () => {
  it('wait, and are made in their order once there is room', () => {
    const { calls, port, made } = callsOf()
    port.isFull = true
    for (const id of ['a', 'b']) calls.start(call(id, { tool: id }))
    calls.startHeld()
    expect([made.length, calls.size]).toEqual([0, 2])
    port.isFull = false
    calls.startHeld()
    expect(made.map(({ tool }) => tool)).toEqual(['a', 'b'])
    calls.startHeld()
    expect(made).toHaveLength(2)
  })

  it('that wait are made no more when the session is over', () => {
    const { calls, port, made } = callsOf()
    port.isFull = true
    calls.start(call('a'))
    calls.abort()
    port.isFull = false
    calls.startHeld()
    expect(made).toEqual([])
  })

  it('that wait do not keep the session from being idle', async () => {
    const { calls, port, made } = callsOf()
    calls.start(call('a'))
    port.isFull = true
    calls.start(call('b'))
    let isIdle = false
    const idle = calls.idle().then(() => (isIdle = true))
    await settle()
    expect(isIdle).toBe(false)
    made[0]!.end({})
    await idle
    await calls.idle()
    await callsOf().calls.idle()
  })
})

describe('cancelling', () => {
  it('aborts the call, whose signal is not used again', async () => {
    const { calls, made } = callsOf()
    calls.start(call('a'))
    calls.cancel('a')
    const { signal } = made[0]!.options
    expect(signal!.reason).toMatchObject({ code: 'ABORTED', message: 'The client cancelled the call.' })
    made[0]!.end({})
    await settle()
    calls.start(call('b'))
    expect(made[1]!.options.signal!.aborted).toBe(false)
  })

  it('ends a call that waits, and no other', () => {
    const { calls, port, made } = callsOf()
    port.isFull = true
    for (const id of ['a', 'b', 'c']) calls.start(call(id, { tool: id }))
    calls.cancel('b')
    expect(made.map(({ tool, options }) => [tool, options.signal!.aborted])).toEqual([['b', true]])
    port.isFull = false
    calls.startHeld()
    expect(made.map(({ tool }) => tool)).toEqual(['b', 'a', 'c'])
  })

  it('says of an unknown call that there is none, and tells the end of one that has ended again', async () => {
    const { calls, made, again, complaints } = callsOf()
    calls.cancel('none')
    expect(complaints).toMatchObject([
      { id: 'none', error: { code: 'NOT_FOUND', message: 'Call "none" not found, so it cannot be cancelled.' } },
    ])
    calls.start(call('a'))
    made[0]!.end({})
    await settle()
    calls.cancel('a')
    expect([again, complaints.length]).toEqual([[1], 1])
  })
})

it.each<[Partial<CallMessage>, boolean]>([
  [{}, false],
  [{ requestId: 'r' }, false],
  [{ taskId: 't' }, false],
  [{ requestId: 'r', taskId: 't' }, true],
  [{ idempotencyKey: 'k' }, true],
  [{ repeatKey: 'k' }, true],
])('a call with %j continues without its client: %s', (others, survives) => {
  const { calls, made } = callsOf()
  calls.start(call('a', others))
  calls.abort()
  const { signal } = made[0]!.options
  expect(signal!.aborted).toBe(!survives)
  if (!survives)
    expect(signal!.reason).toMatchObject({
      message: 'The client went away and did not come back.',
      details: { callerGone: true },
    })
})

describe('work other than a call', () => {
  it('is done once, and has one outcome', async () => {
    const { calls, sent, again } = callsOf()
    let count = 0
    const work = async () => ++count
    for (const _ of [1, 2]) calls.perform('a', work)
    expect(calls.size).toBe(1)
    await settle()
    calls.perform('a', work)
    calls.perform('b', async () => {
      throw new ToolError('NOT_FOUND', 'None.')
    })
    await settle()
    expect(sent).toMatchObject([
      { type: 'done', id: 'a', outcome: 1 },
      { type: 'error', id: 'b', error: { code: 'NOT_FOUND' } },
    ])
    expect([again, calls.size]).toEqual([[1], 0])
  })

  it('is not begun when so much is under way, or for a client that does not acknowledge', async () => {
    const { calls, sent, complaints } = callsOf({ most: 2 })
    const never = () => new Promise(() => {})
    for (const id of ['a', 'b', 'c']) calls.perform(id, never)
    expect(complaints).toMatchObject([{ id: 'c', error: TOO_MANY }])
    const full = callsOf({ most: 2 })
    full.port.isFull = true
    full.calls.perform('a', async () => 1)
    await settle()
    expect(full.complaints).toMatchObject([{ id: 'a', error: TOO_MANY }])
    expect([sent, full.sent]).toEqual([[], []])
  })
})
