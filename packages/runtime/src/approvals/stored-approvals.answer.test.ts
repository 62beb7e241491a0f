import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { ApprovalReply } from '../../../core/src/events.ts'
import type { StoredApproval } from '../../../core/src/store.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { APPROVAL } from './call-approvals.ts'
import { answerStored, readRequest } from './stored-approvals.ts'
import { QUESTION } from './tool-questions.ts'

const NOW = Date.UTC(2026, 0, 1)

/** A request that waits in the store for a second; `after` is the time of the answer. */
async function stored(kind: 'approval' | 'question', request: object = {}) {
  const clock = fakeClock(NOW)
  const store = createMemoryStore({ now: clock.now })
  const names = { id: 'request-1', callId: 'call-1', run: 'run-1', tool: 'notes.save', caller: 'test', hash: 'h' }
  const times = { askedAt: NOW, expiresAt: NOW + 1_000 }
  await store.approvals.file({ ...names, ...times, kind, request: JSON.stringify(request), owner: 'null' })
  return {
    clock,
    find: async () => (await store.approvals.find('request-1'))!,
    approve: (id: string, reply: ApprovalReply) => answerStored({ store, clock, kind: APPROVAL }, id, reply),
    answer: (id: string, reply: string | object, answerer?: { by: string; via: string }) =>
      answerStored({ store, clock, kind: QUESTION }, id, reply, answerer),
  }
}

describe('an approval of any process', () => {
  it('stores the answer with who gave it, and which way it came', async () => {
    const { approve, find } = await stored('approval', { principal: 'token:ci' })
    const reply = { decision: 'deny', reason: 'not now', by: 'ada', via: 'console' } as const
    expect(await approve('request-1', reply)).toBe(true)
    const { state, answer } = await find()
    expect(state).toBe('answered')
    expect(answer).toEqual({ reply: '{"decision":"deny","reason":"not now"}', by: 'ada', via: 'console', at: NOW })
    expect(await approve('request-1', { decision: 'allow' })).toBe(false)
    expect((await find()).answer).toEqual(answer)
  })

  it('takes one who does not say who they are for an approver who uses the library', async () => {
    const { approve, find } = await stored('approval')
    await approve('request-1', { decision: 'allow' })
    expect((await find()).answer).toMatchObject({ by: 'approver', via: 'library' })
  })

  it('lets nobody answer for their own call', async () => {
    const { approve, find } = await stored('approval', { principal: 'token:ci' })
    const reply = { decision: 'allow', by: 'token:ci' } as const
    await expect(approve('request-1', reply)).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect((await find()).state).toBe('waiting')
  })

  it('answers nothing that is a question or does not exist', async () => {
    const { approve, find } = await stored('question')
    for (const id of ['request-1', 'request-2']) expect(await approve(id, { decision: 'allow' })).toBeUndefined()
    expect((await find()).state).toBe('waiting')
  })

  it.each([
    ['a millisecond before its time is over', 999, true, 'answered'],
    ['when its time is over', 1_000, false, 'expired'],
  ] as const)('is asked %s', async (_, afterMs, isTaken, state) => {
    const { approve, find, clock } = await stored('approval')
    await clock.advance(afterMs)
    expect(await approve('request-1', { decision: 'allow' })).toBe(isTaken)
    expect((await find()).state).toBe(state)
  })

  it('refuses to answer what another version has written and nobody understands', async () => {
    const { approve, find } = await stored('approval', { principal: 1 })
    await expect(approve('request-1', { decision: 'allow' })).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'The request of request-1 in the store cannot be read.',
    })
    expect((await find()).state).toBe('waiting')
  })
})

describe('a question of any process', () => {
  it('stores a text with who gave it, and which way it came', async () => {
    const { answer, find } = await stored('question')
    expect(await answer('request-1', 'blue', { by: 'ada', via: 'console' })).toBe(true)
    expect((await find()).answer).toEqual({ reply: '"blue"', by: 'ada', via: 'console', at: NOW })
    expect(await answer('request-1', 'red')).toBe(false)
  })

  it('takes one who does not say who they are for a person who uses the library', async () => {
    const { answer, find } = await stored('question')
    await answer('request-1', 'blue')
    expect((await find()).answer).toMatchObject({ by: 'person', via: 'library' })
  })

  it('takes only what fits the form', async () => {
    const form = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] }
    const { answer, find } = await stored('question', { form })
    await expect(answer('request-1', { size: 'large' })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(/^The answer to notes\.save cannot be used: /),
    })
    expect((await find()).state).toBe('waiting')
    expect(await answer('request-1', { size: 4 })).toBe(true)
    expect((await find()).answer).toMatchObject({ reply: '{"size":4}' })
  })

  it('answers nothing that is an approval or too late', async () => {
    const approval = await stored('approval')
    expect(await approval.answer('request-1', 'blue')).toBeUndefined()
    const late = await stored('question')
    await late.clock.advance(1_000)
    expect(await late.answer('request-1', 'blue')).toBe(false)
    expect((await late.find()).state).toBe('expired')
  })
})

const FACTS = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  caller: 'test',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:00:01.000Z',
}
const storedApproval = {
  ...FACTS,
  input: {},
  targets: [],
  rule: 'r',
  reason: 'r',
  requests: [],
  labels: [],
  views: [],
  history: [],
  coverage: { exact: 'this call' },
  hash: 'h',
}
const storedQuestion = { ...FACTS, question: 'Where to?' }

function storedAs(kind: StoredApproval['kind'], request: unknown): StoredApproval {
  const { expiresAt, askedAt, ...facts } = FACTS
  const times = { askedAt: Date.parse(askedAt), expiresAt: Date.parse(expiresAt) }
  return {
    ...facts,
    ...times,
    kind,
    hash: 'h',
    owner: '',
    state: 'waiting',
    used: false,
    request: JSON.stringify(request),
  }
}

it('reads an approval as an approval and a question as a question', () => {
  expect(readRequest(storedAs('approval', storedApproval))).toMatchObject({ kind: 'approval', request: storedApproval })
  expect(readRequest(storedAs('question', storedQuestion))).toMatchObject({ kind: 'question', request: storedQuestion })
})

it.each(['ok', 'pending', 'running', 'error', 'denied', 'approval_required', 'aborted', 'timeout'])(
  'reads an approval after a call that is %s',
  (status) => {
    const history = [{ callId: 'call-0', tool: 'notes.read', status }]
    expect(readRequest(storedAs('approval', { ...storedApproval, history }))).toMatchObject({ request: { history } })
  },
)

it('reads nothing where the request is of another kind, or not understood', () => {
  expect(readRequest(storedAs('approval', storedQuestion))).toBeUndefined()
  expect(readRequest(storedAs('question', storedApproval))).toBeUndefined()
  expect(readRequest({ ...storedAs('question', storedQuestion), request: 'no JSON' })).toBeUndefined()
})

it('reads everything that a person is to see of an approval', () => {
  const whole = {
    ...storedApproval,
    principal: 'token:ci',
    session: 's1',
    input: { path: 'a' },
    targets: ['write:fs /a'],
    purpose: 'keeps a note',
    requestId: 'request-1',
    taskId: 'task-1',
    goalId: 'goal-1',
    requests: ['skill notes asks for write:fs'],
    labels: ['untrusted'],
    views: [
      {
        kind: 'command',
        command: 'ls; rm a; du',
        cwd: '/srv',
        parts: [
          { text: 'ls', effect: 'allow', rule: 'allow ls', decides: false },
          { text: 'rm a', effect: 'deny', rule: 'deny rm', decides: true },
          { text: 'du', effect: 'ask', rule: 'ask du', decides: false },
        ],
      },
      { kind: 'diff', path: '/srv/a', diff: '+a', isNew: true },
      { kind: 'url', url: 'https://example.org', addresses: ['192.0.2.1'], problem: 'it is private' },
    ],
    history: [{ callId: 'call-0', tool: 'notes.read', status: 'ok', summary: 'read a' }],
    coverage: { exact: 'this call', targets: 'this file', pattern: 'files below /srv' },
  }
  expect(readRequest(storedAs('approval', whole))?.request).toEqual(whole)
})

it('reads everything that a person is to see of a question', () => {
  const whole = {
    ...storedQuestion,
    principal: 'token:ci',
    context: 'the wall is white',
    options: ['blue', 'red'],
    defaultAnswer: 'blue',
    form: { type: 'object' },
  }
  expect(readRequest(storedAs('question', whole))?.request).toEqual(whole)
})
