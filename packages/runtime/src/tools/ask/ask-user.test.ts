import { describe, expect, it } from 'vitest'
import type { QuestionRequest } from '../../../../core/src/events.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'

describe('core/ask.user', () => {
  it('gives the answer of the person', async () => {
    const hub = testHub({ onQuestion: ({ question, options }) => `${question} ${options?.[1]}` })
    const result = await hub.call('core/ask.user', { question: 'Which?', options: ['a', 'b'] })
    expect(result.data).toEqual({ answer: 'Which? b', isDefault: false })
    expect(result.content).toEqual([{ type: 'text', text: 'Which? b' }])
    await hub.close()
  })

  it('waits as long as approvals do, at most an hour', async () => {
    for (const [timeoutMs, waits] of [
      [undefined, 300_000],
      [1_800_000, 1_800_000],
      [86_400_000, 3_600_000],
    ] as const) {
      const hub = testHub({ approvals: { inbox: true, ...(timeoutMs && { timeoutMs }) } })
      for (const tool of ['core/ask.user', 'clarify']) {
        const asked = new Promise<QuestionRequest>((resolve) => hub.questions.watch(resolve))
        const call = hub.callDynamic(tool, { question: `Which ${tool}?` })
        const { id, askedAt, expiresAt } = await asked
        expect(Date.parse(expiresAt) - Date.parse(askedAt)).toBe(waits)
        await hub.questions.reply(id, 'this')
        expect((await call).ok).toBe(true)
      }
      await hub.close()
    }
  })

  it('is clarify in the coding dialect', async () => {
    const hub = testHub({ onQuestion: async () => 'yes' })
    expect((await hub.callDynamic('clarify', { question: 'Really?', timeout: 5_000 })).data).toMatchObject({
      answer: 'yes',
    })
    await hub.close()
  })

  it('asks by onClarificationRequest, of the hub or of the call, and stops by abortSignal', async () => {
    const hub = testHub({ onClarificationRequest: ({ question }) => `hub: ${question}` })
    expect((await hub.callDynamic('clarify', { question: 'Who?' })).data).toMatchObject({ answer: 'hub: Who?' })
    const onClarificationRequest = async () => 'call'
    const asked = await hub.callDynamic('clarify', { question: 'Who?' }, { onClarificationRequest })
    expect(asked.data).toMatchObject({ answer: 'call' })
    const abortSignal = AbortSignal.abort()
    expect((await hub.callDynamic('clarify', { question: 'Who?' }, { abortSignal })).status).toBe('aborted')
    const ends: unknown[] = []
    for await (const event of hub.stream('clarify', { question: 'Who?' }, { abortSignal })) ends.push(event)
    expect(ends.at(-1)).toMatchObject({ type: 'call-ended', result: { status: 'aborted' } })
    const wrong = await hub.callDynamic('clarify', { question: 'Who?' }, { onClarificationRequest: 'x' as never })
    expect(wrong.error?.code).toBe('CONFIG_INVALID')
    await hub.close()
  })

  it('fails immediately when nobody can be asked', async () => {
    const hub = testHub()
    expect((await hub.call('core/ask.user', { question: 'Anybody?' })).error?.code).toBe('APPROVAL_UNAVAILABLE')
    await hub.close()
  })

  it('takes the default when nobody answers in time, and fails without one', async () => {
    const clock = fakeClock()
    const hub = testHub({ clock, onQuestion: () => new Promise(() => {}) })
    const withDefault = hub.call('core/ask.user', { question: 'Hello?', defaultAnswer: 'no', timeoutMs: 1_000 })
    const without = hub.call('core/ask.user', { question: 'Hello?', timeoutMs: 1_000 })
    await clock.advance(1_000)
    expect((await withDefault).data).toEqual({ answer: 'no', isDefault: true })
    expect((await without).error?.code).toBe('APPROVAL_TIMEOUT')
    await hub.close()
  })

  it('stops asking when the call is stopped, and tells the one who asks', async () => {
    const controller = new AbortController()
    let told = false
    const hub = testHub({
      onQuestion: (_, { signal }) =>
        new Promise<string>(() => {
          signal.addEventListener('abort', () => {
            told = true
          })
          controller.abort()
        }),
    })
    expect((await hub.call('core/ask.user', { question: 'Hello?' }, { signal: controller.signal })).status).toBe(
      'aborted',
    )
    expect(told).toBe(true)
    await hub.close()
  })

  it('says so when the answer is not a text or the asking fails', async () => {
    for (const onQuestion of [() => 42 as never, () => Promise.reject(new Error('line is dead'))]) {
      const hub = testHub({ onQuestion })
      expect((await hub.call('core/ask.user', { question: 'Hello?' })).error?.code).toBe('INTERNAL')
      await hub.close()
    }
  })
})
