import { expect, it } from 'vitest'
import type { BaseContext } from '../../../core/src/tool.ts'
import { ServerQuestions } from './questions.ts'

const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: { yes: { type: 'boolean' } } } }

/** A call whose person answers when the test says so. */
function openCall() {
  const notices: string[] = []
  const waiting: ((answer: object) => void)[] = []
  const ask = () => new Promise<object>((resolve) => waiting.push(resolve))
  const ctx = { run: 'r', signal: new AbortController().signal, notice: (text: string) => notices.push(text), ask }
  return { questions: new ServerQuestions('s', ctx as unknown as BaseContext), notices, waiting }
}

const settled = () => new Promise(setImmediate)

it('asks one question after the other, a few, and says once that there were more', async () => {
  const { questions, notices, waiting } = openCall()
  const answers = Array.from({ length: 1_000 }, () => questions.ask(params))
  for (let round = 0; round < 9; round++) {
    await settled()
    expect(waiting).toHaveLength(1)
    waiting.pop()!({ values: { yes: true } })
  }
  const actions = (await Promise.all(answers)).map(({ action }) => action)
  expect(actions.filter((action) => action === 'accept')).toHaveLength(9)
  expect(actions.filter((action) => action === 'cancel')).toHaveLength(991)
  expect(notices).toEqual(['s asked more than 8 questions at the same time; the rest are not answered.'])
})

it('asks at most 20 questions in a call', async () => {
  const { questions, notices, waiting } = openCall()
  for (let count = 1; count <= 25; count++) {
    const answer = questions.ask(params)
    await settled()
    waiting.pop()?.({ values: {} })
    expect((await answer).action).toBe(count <= 20 ? 'accept' : 'cancel')
  }
  expect(notices).toHaveLength(1)
})

it('asks nothing more once the call is over', async () => {
  const { questions, notices, waiting } = openCall()
  const [first, second] = [questions.ask(params), questions.ask(params)]
  await settled()
  questions.close()
  waiting.pop()!({ values: {} })
  expect([(await first).action, (await second).action]).toEqual(['accept', 'cancel'])
  expect(waiting).toEqual([])
  expect(notices).toEqual([])
})

it('says each reason once, and nothing once the call is over', async () => {
  const { questions, notices } = openCall()
  expect(questions.run).toBe('r')
  for (const why of ['a', 'b', 'a']) expect(await questions.refuse(why)).toEqual({ action: 'cancel' })
  expect(notices).toEqual(['a', 'b'])
  questions.close()
  expect(await questions.refuse('c')).toEqual({ action: 'cancel' })
  expect(notices).toEqual(['a', 'b'])
})

it('asks the next question where the one before it could not be answered', async () => {
  const notices: string[] = []
  const stop = new AbortController()
  let asked = 0
  const ask = async () => {
    if (asked++ > 0) return { values: {} }
    stop.abort()
    throw new Error('stopped')
  }
  const ctx = { run: 'r', signal: stop.signal, notice: (text: string) => notices.push(text), ask }
  const questions = new ServerQuestions('s', ctx as unknown as BaseContext)
  const [first, second] = [questions.ask(params), questions.ask(params)]
  await expect(first).rejects.toThrow('stopped')
  expect((await second).action).toBe('accept')
})

it('says that there were more than 20 questions', async () => {
  const { questions, notices, waiting } = openCall()
  for (let count = 1; count <= 22; count++) {
    const answer = questions.ask(params)
    await settled()
    waiting.pop()?.({ values: {} })
    await answer
  }
  expect(notices).toEqual(['s asked more than 20 questions; the rest are not answered.'])
})
