import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { answerApproval, answerQuestion } from './answer-ask.ts'
import { AskBoard } from './ask-board.ts'

const NOW = Date.UTC(2026, 0, 1)

/** A board on which one request waits for a second. */
async function filed(kind: 'approval' | 'question', request: object = {}) {
  const clock = fakeClock(NOW)
  const { asks, ...others } = createMemoryStore({ now: clock.now })
  const board = new AskBoard({ asks, ...others }, clock)
  const names = { id: 'ask-1', callId: 'call-1', run: 'run-1', tool: 'notes.save', caller: 'test', hash: 'h' }
  await board.file({ ...names, kind, request: JSON.stringify(request), askedAt: NOW, expiresAt: NOW + 1_000 })
  const find = async () => (await asks.find('ask-1'))!
  return { board, find }
}

describe('answerApproval', () => {
  it('stores the answer with who gave it, and which way it came', async () => {
    const { board, find } = await filed('approval', { principal: 'token:ci' })
    const reply = { decision: 'deny', reason: 'not now', by: 'ada', via: 'console' } as const
    expect(await answerApproval(board, 'ask-1', reply, NOW)).toBe(true)
    const { state, answer } = await find()
    expect(state).toBe('answered')
    expect(answer).toEqual({ reply: '{"decision":"deny","reason":"not now"}', by: 'ada', via: 'console', at: NOW })
    expect(await answerApproval(board, 'ask-1', { decision: 'allow' }, NOW)).toBe(false)
    expect((await find()).answer).toEqual(answer)
  })

  it('takes one who does not say who they are for an approver who uses the library', async () => {
    const { board, find } = await filed('approval')
    await answerApproval(board, 'ask-1', { decision: 'allow' }, NOW)
    expect((await find()).answer).toMatchObject({ by: 'approver', via: 'library' })
  })

  it('lets nobody answer for their own call', async () => {
    const { board, find } = await filed('approval', { principal: 'token:ci' })
    const reply = { decision: 'allow', by: 'token:ci' } as const
    await expect(answerApproval(board, 'ask-1', reply, NOW)).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect((await find()).state).toBe('waiting')
  })

  it('answers nothing that is a question or does not exist', async () => {
    const { board, find } = await filed('question')
    for (const id of ['ask-1', 'ask-2'])
      expect(await answerApproval(board, id, { decision: 'allow' }, NOW)).toBeUndefined()
    expect((await find()).state).toBe('waiting')
  })

  it.each([
    ['a millisecond before its time is over', 999, true, 'answered'],
    ['when its time is over', 1_000, false, 'expired'],
  ] as const)('is asked %s', async (_, afterMs, isTaken, state) => {
    const { board, find } = await filed('approval')
    expect(await answerApproval(board, 'ask-1', { decision: 'allow' }, NOW + afterMs)).toBe(isTaken)
    expect((await find()).state).toBe(state)
  })

  it('refuses to answer what another version has written and nobody understands', async () => {
    const { board, find } = await filed('approval', { principal: 1 })
    await expect(answerApproval(board, 'ask-1', { decision: 'allow' }, NOW)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'The request of ask-1 in the store cannot be read.',
    })
    expect((await find()).state).toBe('waiting')
  })
})

describe('answerQuestion', () => {
  it('stores a text with who gave it, and which way it came', async () => {
    const { board, find } = await filed('question')
    expect(await answerQuestion(board, 'ask-1', { reply: 'blue', by: 'ada', via: 'console' }, NOW)).toBe(true)
    expect((await find()).answer).toEqual({ reply: '"blue"', by: 'ada', via: 'console', at: NOW })
    expect(await answerQuestion(board, 'ask-1', { reply: 'red' }, NOW)).toBe(false)
  })

  it('takes one who does not say who they are for a person who uses the library', async () => {
    const { board, find } = await filed('question')
    await answerQuestion(board, 'ask-1', { reply: 'blue' }, NOW)
    expect((await find()).answer).toMatchObject({ by: 'person', via: 'library' })
  })

  it('takes only what fits the form', async () => {
    const form = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] }
    const { board, find } = await filed('question', { form })
    await expect(answerQuestion(board, 'ask-1', { reply: { size: 'large' } }, NOW)).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(/^The answer to notes\.save cannot be used: /),
    })
    expect((await find()).state).toBe('waiting')
    expect(await answerQuestion(board, 'ask-1', { reply: { size: 4 } }, NOW)).toBe(true)
    expect((await find()).answer).toMatchObject({ reply: '{"size":4}' })
  })

  it('answers nothing that is an approval or too late', async () => {
    const approval = await filed('approval')
    expect(await answerQuestion(approval.board, 'ask-1', { reply: 'blue' }, NOW)).toBeUndefined()
    const late = await filed('question')
    expect(await answerQuestion(late.board, 'ask-1', { reply: 'blue' }, NOW + 1_000)).toBe(false)
    expect((await late.find()).state).toBe('expired')
  })
})
