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
