import { expect, it } from 'vitest'
import type { Ask } from '../store.ts'
import { readRequest } from './read-request.ts'

const FACTS = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  caller: 'test',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:00:01.000Z',
}
const APPROVAL = {
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
const QUESTION = { ...FACTS, question: 'Where to?' }

function askOf(kind: Ask['kind'], request: unknown): Ask {
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
  expect(readRequest(askOf('approval', APPROVAL))).toMatchObject({ kind: 'approval', request: APPROVAL })
  expect(readRequest(askOf('question', QUESTION))).toMatchObject({ kind: 'question', request: QUESTION })
})

it.each(['ok', 'pending', 'running', 'error', 'denied', 'approval_required', 'aborted', 'timeout'])(
  'reads an approval after a call that is %s',
  (status) => {
    const history = [{ callId: 'call-0', tool: 'notes.read', status }]
    expect(readRequest(askOf('approval', { ...APPROVAL, history }))).toMatchObject({ request: { history } })
  },
)

it('reads nothing where the request is of another kind, or not understood', () => {
  expect(readRequest(askOf('approval', QUESTION))).toBeUndefined()
  expect(readRequest(askOf('question', APPROVAL))).toBeUndefined()
  expect(readRequest({ ...askOf('question', QUESTION), request: 'no JSON' })).toBeUndefined()
})

it('reads everything that a person is to see of an approval', () => {
  const whole = {
    ...APPROVAL,
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
  expect(readRequest(askOf('approval', whole))?.request).toEqual(whole)
})

it('reads everything that a person is to see of a question', () => {
  const whole = {
    ...QUESTION,
    principal: 'token:ci',
    context: 'the wall is white',
    options: ['blue', 'red'],
    defaultAnswer: 'blue',
    form: { type: 'object' },
  }
  expect(readRequest(askOf('question', whole))?.request).toEqual(whole)
})
