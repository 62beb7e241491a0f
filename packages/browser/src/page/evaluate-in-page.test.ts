import type { CDPSession } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { evaluateInPage } from './evaluate-in-page.ts'

const NEVER = new AbortController().signal

/** The DevTools protocol of a page that answers as a test says, and the messages that it received. */
function sessionOf(answer: (params: object) => Promise<unknown>) {
  const told: [string, object | undefined][] = []
  const send = (method: string, params?: object) => {
    told.push([method, params])
    return method === 'Runtime.evaluate' ? answer(params!) : Promise.resolve()
  }
  return { session: { send } as unknown as CDPSession, told }
}
const giving = (value: unknown) => sessionOf(async () => ({ result: { value } }))
const throwing = (description: string) =>
  sessionOf(async () => ({ result: {}, exceptionDetails: { text: 'Uncaught', exception: { description } } }))
const run = ({ session }: { session: CDPSession }, timeout = 1_000, signal = NEVER) =>
  evaluateInPage(session, '1 + 1', { timeout, signal })

describe('what an expression gives', () => {
  it('is JSON, up to 50000 characters', async () => {
    expect(await run(giving('2'))).toEqual({ json: '2', isCut: false })
    expect(await run(giving(undefined))).toEqual({ json: '', isCut: false })
    expect(await run(giving('x'.repeat(50_000)))).toEqual({ json: 'x'.repeat(50_000), isCut: false })
    expect(await run(giving('x'.repeat(50_001)))).toEqual({ json: 'x'.repeat(50_000), isCut: true })
  })

  it('is asked for by value, awaited, without a gesture of the user, and cut in the page already', async () => {
    const page = giving('2')
    await run(page, 99.9)
    const [[method, params]] = page.told as [[string, { expression: string }]]
    expect([method, page.told.length]).toEqual(['Runtime.evaluate', 1])
    expect(params).toMatchObject({ awaitPromise: true, returnByValue: true, userGesture: false, timeout: 99 })
    expect(params.expression).toContain('(0, eval)("1 + 1")')
    expect(params.expression).toContain('.slice(0, 50001)')
    const little = giving('2')
    await run(little, 0.5)
    expect(little.told[0]![1]).toMatchObject({ timeout: 1 })
  })
})

describe('an expression that fails', () => {
  it.each([
    ['TypeError: secret of the page', 'a TypeError'],
    ['Uncaught ReferenceError: x', 'a ReferenceError'],
    ['DOMException: x', 'a DOMException'],
    ['said TypeError: x', 'something'],
    ['typeError: x', 'something'],
    ['TypeErrors', 'something'],
    ['', 'something'],
  ])('with %j threw %s', async (description, kind) => {
    await expect(run(throwing(description))).rejects.toMatchObject({
      code: 'EXEC_FAILED',
      message: `The expression threw ${kind}.`,
      fix: { hint: 'Correct it; the console of the page has the whole error.' },
      details: { thrown: description },
    })
  })

  it('keeps 2000 characters of what the page says in its details', async () => {
    await expect(run(throwing('x'.repeat(2_001)))).rejects.toMatchObject({ details: { thrown: 'x'.repeat(2_000) } })
    const bare = sessionOf(async () => ({ result: {}, exceptionDetails: { text: 'Uncaught' } }))
    await expect(run(bare)).rejects.toMatchObject({ details: { thrown: 'Uncaught' } })
  })

  it('took too long, by the word of the protocol or of the clock, and is ended', async () => {
    const late = {
      code: 'TIMEOUT',
      message: 'The expression did not finish within 20 ms, and was ended.',
      fix: { hint: 'Evaluate something that ends by itself.' },
    }
    const refused = sessionOf(() => Promise.reject(new Error('Protocol error: Internal error')))
    await expect(run(refused, 20)).rejects.toMatchObject(late)
    await expect(run(throwing('Error: Execution was terminated'), 20)).rejects.toMatchObject(late)
    const endless = sessionOf(() => new Promise(() => {}))
    await expect(run(endless, 20)).rejects.toMatchObject(late)
    expect(endless.told.at(-1)![0]).toBe('Runtime.terminateExecution')
    const broken = sessionOf(() => Promise.reject(new Error('Target closed')))
    await expect(run(broken)).rejects.toThrow('Target closed')
  })

  it('is ended with its call', async () => {
    const stopping = new AbortController()
    const endless = sessionOf(() => new Promise(() => {}))
    const running = run(endless, 60_000, stopping.signal)
    stopping.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
    expect(endless.told.at(-1)![0]).toBe('Runtime.terminateExecution')
  })
})
