import { describe, expect, it } from 'vitest'
import { callerGone } from '../caller-gone.ts'
import type { QuestionReply } from '../options.ts'
import type { QuestionRequest } from '../result.ts'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { AskBoard } from './ask-board.ts'
import type { AskWays } from './ask-kind.ts'
import { GivenAnswer } from './given-answer.ts'
import { QuestionDesk } from './question-desk.ts'

const question: QuestionRequest = {
  id: 'question-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'paint.wall',
  caller: 'test',
  question: 'Which color?',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:00:01.000Z',
}
const form = { type: 'object', properties: { color: { type: 'string' }, coats: { type: 'integer' } } }
const never = new AbortController().signal

function newDesk({ waitsInStore = false, outlives = false } = {}) {
  const clock = fakeClock()
  const store = createMemoryStore({ now: clock.now })
  const make = () => new QuestionDesk({ clock, board: new AskBoard(store, clock), waitsInStore, outlives })
  return { clock, store, desk: make(), other: make() }
}

/** Code that answers so. */
function inCode(...answers: unknown[]): AskWays<QuestionRequest, QuestionReply> {
  return { hash: 'h', inCode: answers.map((reply) => () => ({ reply })) }
}

describe('asking', () => {
  it('gives a text, or the values of a form, and says whose answer it is where that is known', async () => {
    const { desk, store } = newDesk()
    expect(await desk.ask(question, never, inCode('blue'))).toEqual({ answer: 'blue' })
    expect((await store.asks.find(question.id))?.answer).toMatchObject({
      reply: '"blue"',
      by: 'person',
      via: 'library',
    })
    const second = { ...question, id: 'question-2', form }
    const given = new GivenAnswer({ color: 'red' }, { by: 'ada', via: 'elicitation' })
    const reply = { answer: { color: 'red' }, by: 'ada', via: 'elicitation' }
    expect(await desk.ask(second, never, inCode(given))).toEqual(reply)
    expect((await store.asks.find('question-2'))?.answer).toMatchObject({ reply: '{"color":"red"}', by: 'ada' })
  })

  it.each([
    ['a number', 7, undefined, 'number'],
    ['null, also for a form', null, form, 'object'],
    ['values where there is no form', { color: 'blue' }, undefined, 'object'],
    ['a boolean for a form', true, form, 'boolean'],
  ])('fails when code answers with %s', async (_, reply, form, type) => {
    const { desk } = newDesk()
    await expect(desk.ask({ ...question, form }, never, inCode(reply))).rejects.toMatchObject({
      code: 'INTERNAL',
      message: `onQuestion answered paint.wall with a ${type}, not a text.`,
    })
  })

  it('fails with what the code that was asked has thrown', async () => {
    const { desk } = newDesk()
    const thrown = new Error('no terminal')
    const throws = () => Promise.reject(thrown)
    await expect(desk.ask(question, never, { hash: 'h', inCode: [throws] })).rejects.toBe(thrown)
  })

  it('says that nobody can be asked, and what to do', async () => {
    const { desk } = newDesk()
    await expect(desk.ask(question, never, inCode())).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      message: 'paint.wall has a question and nobody can be asked.',
      fix: { hint: 'Make the hub with onQuestion, or go on without the answer.' },
    })
  })

  it('names the failure of the store where it is the only way', async () => {
    const { desk, store } = newDesk({ waitsInStore: true })
    const cause = new Error('disk full')
    store.asks.file = () => Promise.reject(cause)
    await expect(desk.ask(question, never, inCode())).rejects.toMatchObject({
      message: 'paint.wall has a question and the store failed.',
      cause,
    })
  })

  it('says for how long nobody answered', async () => {
    const { desk, clock } = newDesk()
    desk.watch(() => {})
    const asking = expect(desk.ask(question, never, inCode())).rejects.toMatchObject({
      code: 'APPROVAL_TIMEOUT',
      message: 'Nobody answered paint.wall within 1000 ms.',
    })
    await clock.advance(1_000)
    await asking
  })

  it('stops for the reason of the caller, and keeps the question of one that is gone', async () => {
    const { desk, store } = newDesk({ waitsInStore: true })
    const reason = new Error('enough')
    await expect(desk.ask(question, AbortSignal.abort(reason), inCode())).rejects.toBe(reason)
    const stopper = new AbortController()
    const asking = desk.ask(question, stopper.signal, inCode())
    stopper.abort(callerGone('The connection is closed.'))
    await expect(asking).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      message: 'paint.wall has a question and nobody has answered yet.',
      fix: {
        hint: 'question-1 still waits for an answer. Repeat the same call: it continues to wait, or uses the answer.',
      },
    })
    const adopted = await desk.adopt({ hash: 'h', caller: 'test' })
    expect(adopted?.id).toBe(question.id)
    const again = desk.ask(question, never, { ...inCode(), isAdopted: true })
    expect(await desk.reply(question.id, 'blue', { by: 'ada', via: 'console' })).toBe(true)
    expect(await again).toEqual({ answer: 'blue', by: 'ada', via: 'console' })
    expect(await store.asks.find(question.id)).toMatchObject({ state: 'answered', used: true })
  })
})

describe('answering', () => {
  it('takes the first answer, here or in another process, and says which one it was', async () => {
    const { desk, other } = newDesk({ waitsInStore: true })
    const asking = desk.ask(question, never, inCode())
    await expect.poll(() => other.answer(question.id, 'blue', { by: 'ada', via: 'cli' })).toBe(true)
    expect(await other.answer(question.id, 'red')).toBe(false)
    expect(await other.reply(question.id, 'red')).toBe(false)
    expect(await other.answer('question-nowhere', 'red')).toBeUndefined()
    expect(await other.reply('question-nowhere', 'red')).toBe(false)
    expect(await asking).toEqual({ answer: 'blue', by: 'ada', via: 'cli' })
    expect(desk.list()).toEqual([])
  })

  it('refuses what does not fit the form and waits for another answer', async () => {
    const { desk, store } = newDesk()
    const seen: string[] = []
    desk.watch(({ id }) => seen.push(id))
    const asking = desk.ask({ ...question, form }, never, inCode())
    await expect.poll(() => seen).toEqual([question.id])
    await expect(desk.answer(question.id, { coats: 'two' })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect(desk.list()).toHaveLength(1)
    expect((await store.asks.find(question.id))?.state).toBe('waiting')
    expect(await desk.answer(question.id, { coats: 2 })).toBe(true)
    expect(await asking).toMatchObject({ answer: { coats: 2 } })
    expect((await store.asks.find(question.id))?.answer).toMatchObject({ by: 'person', via: 'library' })
  })

  it('uses an answer that came while nobody waited, once', async () => {
    const { desk, other } = newDesk({ waitsInStore: true, outlives: true })
    const asking = desk.ask(question, never, inCode())
    const left = expect(asking).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    await desk.close()
    await left
    expect(await other.answer(question.id, 'blue', { by: 'ada' })).toBe(true)
    const ask = (await other.adopt({ hash: 'h', caller: 'test' }))!
    expect(await other.useAnswer(ask, question)).toEqual({ answer: 'blue', by: 'ada', via: 'library' })
    expect(await other.useAnswer(ask, question)).toBe('lost')
  })

  it('fails what waits when the last watcher leaves or the desk is closed', async () => {
    const { desk } = newDesk()
    const stop = desk.watch(() => {})
    const asking = desk.ask(question, never, inCode())
    stop()
    await expect(asking).rejects.toMatchObject({
      message: 'paint.wall has a question and the last watcher left.',
    })
    const { desk: closed } = newDesk({ waitsInStore: true })
    const waiting = expect(closed.ask(question, never, inCode())).rejects.toMatchObject({
      message: 'paint.wall has a question and the hub was closed.',
    })
    await closed.close()
    await waiting
  })
})
