import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { QuestionRequest } from '../../../core/src/events.ts'
import { callerGone } from '../../../core/src/failures.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { AttributedReply, fitAnswer, ToolQuestions } from './tool-questions.ts'

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

function newQueue({ waitsInStore = false, outlives = false } = {}) {
  const clock = fakeClock()
  const store = createMemoryStore({ now: clock.now })
  const make = () => new ToolQuestions({ clock, store, waitsInStore, outlives })
  return { clock, store, queue: make(), other: make() }
}

/** Code that answers so. */
function inCode(...answers: unknown[]) {
  const attributed = (reply: unknown) =>
    reply instanceof AttributedReply ? reply : new AttributedReply(reply as string)
  return { hash: 'h', responders: answers.map((reply) => () => attributed(reply)) }
}

describe('asking', () => {
  it('gives a text, or the values of a form, and says whose answer it is where that is known', async () => {
    const { queue, store } = newQueue()
    expect(await queue.ask(question, never, inCode('blue'))).toEqual({ answer: 'blue' })
    expect((await store.approvals.find(question.id))?.answer).toMatchObject({
      reply: '"blue"',
      by: 'person',
      via: 'library',
    })
    const second = { ...question, id: 'question-2', form }
    const given = new AttributedReply({ color: 'red' }, { by: 'ada', via: 'elicitation' })
    const reply = { answer: { color: 'red' }, by: 'ada', via: 'elicitation' }
    expect(await queue.ask(second, never, inCode(given))).toEqual(reply)
    expect((await store.approvals.find('question-2'))?.answer).toMatchObject({ reply: '{"color":"red"}', by: 'ada' })
  })

  it.each([
    ['a number', 7, undefined, 'number'],
    ['null, also for a form', null, form, 'object'],
    ['values without a form', { color: 'blue' }, undefined, 'object'],
    ['a boolean for a form', true, form, 'boolean'],
  ])('fails when code answers with %s', async (_, reply, form, type) => {
    const { queue } = newQueue()
    await expect(queue.ask({ ...question, form }, never, inCode(reply))).rejects.toMatchObject({
      code: 'INTERNAL',
      message: `onQuestion answered paint.wall with a ${type}, not a text.`,
    })
  })

  it('fails with what the code that was asked has thrown', async () => {
    const { queue } = newQueue()
    const thrown = new Error('no terminal')
    const throws = () => Promise.reject(thrown)
    await expect(queue.ask(question, never, { hash: 'h', responders: [throws] })).rejects.toBe(thrown)
  })

  it('says that nobody can be asked, and what to do', async () => {
    const { queue } = newQueue()
    await expect(queue.ask(question, never, inCode())).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      message: 'paint.wall has a question and nobody can be asked.',
      fix: { hint: 'Make the hub with onQuestion, or continue without the answer.' },
    })
  })

  it('names the failure of the store where it is the only way', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const cause = new Error('disk full')
    store.approvals.file = () => Promise.reject(cause)
    await expect(queue.ask(question, never, inCode())).rejects.toMatchObject({
      message: 'paint.wall has a question and the store failed.',
      cause,
    })
  })

  it('says for how long nobody answered', async () => {
    const { queue, clock } = newQueue()
    queue.watch(() => {})
    const asking = expect(queue.ask(question, never, inCode())).rejects.toMatchObject({
      code: 'APPROVAL_TIMEOUT',
      message: 'Nobody answered paint.wall within 1000 ms.',
    })
    await clock.advance(1_000)
    await asking
  })

  it('stops for the reason of the caller, and keeps the question of one that is gone', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const reason = new Error('enough')
    await expect(queue.ask(question, AbortSignal.abort(reason), inCode())).rejects.toBe(reason)
    const stopper = new AbortController()
    const asking = queue.ask(question, stopper.signal, inCode())
    stopper.abort(callerGone('The connection is closed.'))
    await expect(asking).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      message: 'paint.wall has a question and nobody has answered yet.',
      fix: {
        hint: 'question-1 still waits for an answer. Repeat the same call: it continues to wait, or uses the answer.',
      },
    })
    const adopted = await queue.adopt({ hash: 'h', caller: 'test' })
    expect(adopted?.id).toBe(question.id)
    const again = queue.ask(question, never, { ...inCode(), isAdopted: true })
    expect(await queue.reply(question.id, 'blue', { by: 'ada', via: 'console' })).toBe(true)
    expect(await again).toEqual({ answer: 'blue', by: 'ada', via: 'console' })
    expect(await store.approvals.find(question.id)).toMatchObject({ state: 'answered', used: true })
  })
})

describe('answering', () => {
  it('takes the first answer, here or in another process, and says which one it was', async () => {
    const { queue, other } = newQueue({ waitsInStore: true })
    const asking = queue.ask(question, never, inCode())
    await expect.poll(() => other.answer(question.id, 'blue', { by: 'ada', via: 'cli' })).toBe(true)
    expect(await other.answer(question.id, 'red')).toBe(false)
    expect(await other.reply(question.id, 'red')).toBe(false)
    expect(await other.answer('question-nowhere', 'red')).toBeUndefined()
    expect(await other.reply('question-nowhere', 'red')).toBe(false)
    expect(await asking).toEqual({ answer: 'blue', by: 'ada', via: 'cli' })
    expect(queue.list()).toEqual([])
  })

  it('refuses what does not fit the form and waits for another answer', async () => {
    const { queue, store } = newQueue()
    const seen: string[] = []
    queue.watch(({ id }) => seen.push(id))
    const asking = queue.ask({ ...question, form }, never, inCode())
    await expect.poll(() => seen).toEqual([question.id])
    await expect(queue.answer(question.id, { coats: 'two' })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect(queue.list()).toHaveLength(1)
    expect((await store.approvals.find(question.id))?.state).toBe('waiting')
    expect(await queue.answer(question.id, { coats: 2 })).toBe(true)
    expect(await asking).toMatchObject({ answer: { coats: 2 } })
    expect((await store.approvals.find(question.id))?.answer).toMatchObject({ by: 'person', via: 'library' })
  })

  it('uses an answer that came while nobody waited, once', async () => {
    const { queue, other } = newQueue({ waitsInStore: true, outlives: true })
    const asking = queue.ask(question, never, inCode())
    const left = expect(asking).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    await queue.close()
    await left
    expect(await other.answer(question.id, 'blue', { by: 'ada' })).toBe(true)
    const ask = (await other.adopt({ hash: 'h', caller: 'test' }))!
    expect(await other.useAnswer(ask, question)).toEqual({ answer: 'blue', by: 'ada', via: 'library' })
    expect(await other.useAnswer(ask, question)).toBe('lost')
  })

  it('fails what waits when the last watcher leaves or the queue is closed', async () => {
    const { queue } = newQueue()
    const stop = queue.watch(() => {})
    const asking = queue.ask(question, never, inCode())
    stop()
    await expect(asking).rejects.toMatchObject({
      message: 'paint.wall has a question and the last watcher left.',
    })
    const { queue: closed } = newQueue({ waitsInStore: true })
    const waiting = expect(closed.ask(question, never, inCode())).rejects.toMatchObject({
      message: 'paint.wall has a question and the hub was closed.',
    })
    await closed.close()
    await waiting
  })
})

const formOf = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names.slice(0, 1),
})
const refused = (why: string) => ({
  code: 'INPUT_SCHEMA_INVALID',
  message: `The answer to x/ask cannot be used: ${why}`,
  fix: { hint: 'Answer with a text, or with the values of the form by name.' },
})
const fitted = (form: object | undefined, answer: unknown) => fitAnswer({ tool: 'x/ask', form: form as never }, answer)

it('a question without a form is answered with a text', async () => {
  expect(await fitted(undefined, 'blue')).toEqual({ answer: 'blue' })
  await expect(fitted(undefined, { color: 'blue' })).rejects.toMatchObject(refused('it is not a text'))
})

it('a form is answered with its values', async () => {
  const form = formOf('color', 'size')
  expect(await fitted(form, { color: 'blue', size: 'L' })).toEqual({
    answer: '',
    values: { color: 'blue', size: 'L' },
  })
  await expect(fitted(form, { size: 'L' })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
})

it('only a form of one field is answered with its text alone', async () => {
  expect(await fitted(formOf('color'), 'blue')).toEqual({ answer: '', values: { color: 'blue' } })
  await expect(fitted(formOf('color', 'size'), 'blue')).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  await expect(fitted({ type: 'object' }, 'blue')).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  await expect(fitted({}, 'blue')).rejects.toMatchObject(refused('it is not an object'))
  await expect(fitted({}, ['blue'])).rejects.toMatchObject(refused('it is not an object'))
})
