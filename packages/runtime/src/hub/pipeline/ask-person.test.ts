import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventsOf } from '../../../../../test/support/events-of.ts'
import type { CallEvent, QuestionRequest } from '../../../../core/src/events.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import type { Store, StoredApproval } from '../../../../core/src/store.ts'
import { defineTool, type Question } from '../../../../core/src/tool.ts'
import { currentProcess } from '../../../../sandbox/src/system/processes.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'
import type { CallEnded } from '../../records/log/events.ts'

const asks = defineTool({
  name: 'x.ask',
  description: 'Asks, for tests.',
  input: z.strictObject({ question: z.custom<Question>() }),
  execute: ({ question }, ctx) => ctx.ask(question),
})

const PLACE: Question = { question: 'Where to?', context: 'It rains.', options: ['staging', 'production'] }
const FORM: Question = {
  question: 'Who?',
  form: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'number' } },
    required: ['name'],
  } as never,
}

const hubs: TestHub[] = []
function hubWith(options: HubOptions = {}) {
  const hub = testHub({ tools: [asks], ...options }) as TestHub
  hubs.push(hub)
  return hub
}
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

/** The next event for somebody who watches from now on. */
function nextQuestion(hub: TestHub): Promise<QuestionRequest> {
  return new Promise((resolve) => hub.questions.watch(resolve))
}

describe('a question', () => {
  it('goes to every watcher, and its answer to every listener', async () => {
    const hub = hubWith()
    const heard: CallEvent[] = []
    hub.onEvent((event) => heard.push(event))
    const watching = nextQuestion(hub)
    const call = hub.callDynamic('x.ask', { question: PLACE }, { caller: 'agent-7' })
    const request = await watching
    expect(request).toMatchObject({ ...PLACE, tool: 'x.ask', caller: 'agent-7', run: hub.run })
    expect(Date.parse(request.expiresAt) - Date.parse(request.askedAt)).toBe(300_000)
    expect(hub.questions.list()).toEqual([request])
    expect(await hub.questions.reply(request.id, 'staging', { by: 'ada', via: 'console' })).toBe(true)
    expect(await hub.questions.reply(request.id, 'production')).toBe(false)
    expect((await call).data).toEqual({ answer: 'staging', isDefault: false })
    const { callId } = request
    expect(heard.filter(({ type }) => type.startsWith('question-'))).toEqual([
      { type: 'question-asked', callId, request },
      { type: 'question-answered', callId, question: request.id, by: 'ada', via: 'console' },
    ])
  })

  it('is answered by the first, and the others are notified to stop asking', async () => {
    let signal: AbortSignal | undefined
    const hub = hubWith({
      onQuestion: (_, call) => {
        signal = call.signal
        return new Promise(() => {})
      },
    })
    const watching = nextQuestion(hub)
    const call = hub.callDynamic('x.ask', { question: PLACE })
    await hub.questions.reply((await watching).id, 'staging')
    expect((await call).data).toMatchObject({ answer: 'staging' })
    expect(signal?.aborted).toBe(true)
  })

  it('can be answered by another process that shares the store, with what fits its form only', async () => {
    const store = createMemoryStore()
    const hub = hubWith({ store, approvals: { inbox: true } })
    const other = hubWith({ store })
    const call = hub.callDynamic('x.ask', { question: FORM })
    while ((await store.approvals.list()).length === 0) await new Promise(setImmediate)
    const [{ id, kind }] = (await store.approvals.list()) as [StoredApproval]
    expect(kind).toBe('question')
    for (const reply of ['Ada', { name: 7 }, { age: 36 }])
      await expect(other.questions.answer(id, reply)).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect(await other.questions.answer(id, { name: 'Ada', age: 36 })).toBe(true)
    expect(await other.questions.answer(id, { name: 'Bob' })).toBe(false)
    expect(await other.questions.answer('question-nowhere', 'x')).toBeUndefined()
    expect((await call).data).toEqual({ answer: '', values: { name: 'Ada', age: 36 }, isDefault: false })
  })

  it('takes no default where nobody can be asked, or the caller stops', async () => {
    const question = { ...PLACE, defaultAnswer: 'staging' }
    expect(await hubWith().callDynamic('x.ask', { question })).toMatchObject({
      ok: false,
      error: { code: 'APPROVAL_UNAVAILABLE' },
    })
    const hub = hubWith()
    const watching = nextQuestion(hub)
    const stopper = new AbortController()
    const call = hub.callDynamic('x.ask', { question }, { signal: stopper.signal })
    await watching
    stopper.abort()
    expect(await call).toMatchObject({ ok: false, status: 'aborted' })
  })

  it('takes its default when nobody who watches answers in time, and then does not wait any more', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ now: clock.now })
    const hub = hubWith({ clock, store })
    const watching = nextQuestion(hub)
    const call = hub.callDynamic('x.ask', { question: { ...PLACE, defaultAnswer: 'staging', timeoutMs: 1_000 } })
    const { id } = await watching
    await clock.advance(1_000)
    expect((await call).data).toEqual({ answer: 'staging', isDefault: true })
    expect(await hub.questions.reply(id, 'production')).toBe(false)
  })

  it('fails immediately when nobody can be asked, and when the last one who watches leaves', async () => {
    const hub = hubWith()
    const alone = await hub.callDynamic('x.ask', { question: PLACE })
    expect(alone).toMatchObject({ status: 'approval_required', error: { code: 'APPROVAL_UNAVAILABLE' } })
    let leave = () => {}
    const watching = new Promise((resolve) => {
      leave = hub.questions.watch(resolve)
    })
    const call = hub.callDynamic('x.ask', { question: PLACE })
    await watching
    leave()
    expect((await call).error?.code).toBe('APPROVAL_UNAVAILABLE')
  })

  it('of a process that is gone gives its answer to the same call, made again', async () => {
    const before = createMemoryStore()
    const hub = hubWith({ store: before, approvals: { inbox: true } })
    const call = hub.callDynamic('x.ask', { question: PLACE })
    while ((await before.approvals.list()).length === 0) await new Promise(setImmediate)
    await hub.close()
    expect((await call).error?.code).toBe('APPROVAL_UNAVAILABLE')
    const [{ state, used: _, ...ask }] = (await before.approvals.list()) as [StoredApproval]
    expect(state).toBe('waiting')
    const store: Store = createMemoryStore()
    await store.approvals.file({ ...ask, owner: JSON.stringify({ ...currentProcess(), pid: 2 ** 31 - 1 }) })
    await store.approvals.answer(ask.id, { reply: '"production"', by: 'ada', via: 'cli', at: Date.now() })
    const next = hubWith({ store })
    expect((await next.callDynamic('x.ask', { question: PLACE })).data).toMatchObject({ answer: 'production' })
    expect((await store.approvals.find(ask.id))?.used).toBe(true)
  })

  it('is asked as the tool puts it, without secrets and for the principal, each under an id of its own', async () => {
    const SECRET = 'the-owners-own-secret'
    const requests: QuestionRequest[] = []
    const hub = hubWith({ redact: { values: [SECRET] }, onQuestion: () => 'staging' })
    hub.questions.watch((request) => requests.push(request))
    const plain = { question: `Where to with ${SECRET}?` }
    const whole = { ...PLACE, defaultAnswer: 'staging', timeoutMs: 1_000 }
    await hub.callDynamic('x.ask', { question: plain })
    await hub.as({ name: 'token:ci' }).callDynamic('x.ask', { question: whole })
    const [first, second] = requests as [QuestionRequest, QuestionRequest]
    expect(first.question).toMatch(/^Where to with \[redacted:[a-z-]+\]\?$/)
    for (const key of ['context', 'options', 'defaultAnswer', 'form', 'principal'])
      expect(first).not.toHaveProperty(key)
    const { timeoutMs: _, ...shown } = whole
    expect(second).toMatchObject({ ...shown, principal: 'token:ci' })
    expect(Date.parse(second.expiresAt) - Date.parse(second.askedAt)).toBe(1_000)
    const number = ({ id }: QuestionRequest) => Number(id.slice(id.lastIndexOf('-') + 1))
    expect([first, second].map(({ id, callId }) => id.startsWith(`question-${callId}-`))).toEqual([true, true])
    expect(number(second) - number(first)).toBe(1)
  })

  it('that code answers with what does not fit is a defect of that code', async () => {
    const hub = hubWith({ onQuestion: () => ({ name: 7 }) as never })
    expect((await hub.callDynamic('x.ask', { question: FORM })).error?.code).toBe('INTERNAL')
  })

  it('is over for every listener, no matter who answered, and also when nobody did', async () => {
    const answers = async (hub: TestHub, question: Question) => {
      const heard: CallEvent[] = []
      hub.onEvent((event) => heard.push(event))
      await hub.callDynamic('x.ask', { question })
      return heard.filter(({ type }) => type === 'question-answered')
    }
    const over = { type: 'question-answered', callId: expect.any(String), question: expect.any(String) }
    expect(await answers(hubWith({ onQuestion: () => 'staging' }), PLACE)).toEqual([{ ...over, by: 'person' }])
    expect(await answers(hubWith(), PLACE)).toEqual([over])
  })

  it('is waited for in a time that is not the tool’s', async () => {
    const hub = hubWith({ onQuestion: () => new Promise((resolve) => setImmediate(resolve, 'staging')) })
    expect((await hub.callDynamic('x.ask', { question: PLACE })).ok).toBe(true)
    await hub.endRun(hub.run)
    const end = (await eventsOf(hub)).find(({ type }) => type === 'call-ended') as CallEnded
    expect(end.waitedMs ?? 0).toBeLessThanOrEqual(Math.ceil(end.durationMs))
  })

  it('of a call that is stopped already is not asked', async () => {
    let asked = 0
    const stopper = new AbortController()
    const late = defineTool({
      name: 'x.late',
      description: 'Asks when its call is stopped, for tests.',
      input: z.strictObject({}),
      execute: (_, ctx) => {
        stopper.abort()
        return ctx.ask(PLACE)
      },
    })
    const hub = hubWith({
      tools: [late],
      onQuestion: () => {
        asked++
        return 'staging'
      },
    })
    expect((await hub.callDynamic('x.late', {}, { signal: stopper.signal })).status).toBe('aborted')
    expect(asked).toBe(0)
  })
})
