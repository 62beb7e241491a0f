import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import type { BaseContext } from '../../../core/src/tool.ts'
import { answerElicitation } from './questions.ts'

const requestedSchema = { type: 'object', properties: { yes: { type: 'boolean' } } }

/** A call whose person answers so. */
function call(answer: () => object, signal = new AbortController().signal) {
  const notices: string[] = []
  const asked: unknown[] = []
  const ask = async (question: unknown) => {
    asked.push(question)
    return answer()
  }
  const ctx = { signal, notice: (text: string) => notices.push(text), ask } as unknown as BaseContext
  return { notices, asked, answer: (params: unknown) => answerElicitation('s', params, ctx) }
}

const never = () => {
  throw new Error('Nobody may be asked.')
}

it('puts a form to the person, and hands the values to the server', async () => {
  for (const mode of [undefined, 'form']) {
    const { answer, asked, notices } = call(() => ({ values: { yes: true } }))
    expect(await answer({ mode, message: 'Sure?\u{202e}', requestedSchema })).toEqual({
      action: 'accept',
      content: { yes: true },
    })
    expect(asked).toEqual([{ question: 'The MCP server s asks: Sure?\\u{202e}', form: requestedSchema }])
    expect(notices).toEqual([])
  }
  expect(await call(() => ({})).answer({ message: '', requestedSchema })).toEqual({ action: 'accept', content: {} })
})

it('cuts a question after 4,000 characters', async () => {
  const { answer, asked } = call(() => ({}))
  await answer({ message: 'x'.repeat(4_001), requestedSchema })
  expect(asked).toMatchObject([{ question: `The MCP server s asks: ${'x'.repeat(4_000)}` }])
})

it('tells of an address, opens none, and says no', async () => {
  const { answer, notices } = call(never)
  const url = `https://a.org/\n${'x'.repeat(3_985)}`
  expect(await answer({ mode: 'url', message: 'Sign in', url: `${url}y` })).toEqual({ action: 'decline' })
  expect(notices).toEqual([`s wants you to open ${url.replace('\n', '\\n')} (Sign in). It was declined.`])
})

it.each([
  ['no form', { message: 'Sure?' }],
  ['no message', { requestedSchema }],
  ['no address', { mode: 'url', message: 'Sure?' }],
  ['an address that is not a text', { mode: 'url', message: 'Sure?', url: 1 }],
  ['no message beside an address', { mode: 'url', url: 'https://a.org' }],
  ['another mode', { mode: 'voice', message: 'Sure?', requestedSchema }],
  ['nothing', undefined],
])('asks nobody where a server sends %s', async (_, params) => {
  const { answer, notices } = call(never)
  expect(await answer(params)).toEqual({ action: 'cancel' })
  expect(notices).toHaveLength(1)
  const [, told] = /^s asked something that is not a question: ([^\n]+)$/.exec(notices[0]!)!
  expect(told!.length).toBeLessThanOrEqual(300)
})

it('tells at most 300 characters of what is wrong with a question', async () => {
  const { answer, notices } = call(never)
  const properties = Object.fromEntries(['a', 'b', 'c'].map((name) => [name.repeat(190), { type: 'none' }]))
  await answer({ message: 'Sure?', requestedSchema: { type: 'object', properties } })
  expect(notices[0]).toHaveLength('s asked something that is not a question: '.length + 300)
})

it.each([
  ['decline', new ToolError('APPROVAL_DENIED', 'not\nnow')],
  ['cancel', new ToolError('APPROVAL_TIMEOUT', 'not\nnow')],
  ['cancel', Object.assign(new Error('not\nnow'), { code: 'APPROVAL_DENIED' })],
] as const)('answers "%s" where the person does not, and says so', async (action, error) => {
  const { answer, notices } = call(() => {
    throw error
  })
  expect(await answer({ message: `"${'x'.repeat(200)}`, requestedSchema })).toEqual({ action })
  expect(notices).toEqual([`s asked "\\"${'x'.repeat(199)}" and got no answer: not\\nnow`])
})

it('ends with the call', async () => {
  const error = new ToolError('APPROVAL_DENIED', 'stopped')
  const { answer, notices } = call(() => {
    throw error
  }, AbortSignal.abort())
  await expect(answer({ message: 'Sure?', requestedSchema })).rejects.toBe(error)
  expect(notices).toEqual([])
})
