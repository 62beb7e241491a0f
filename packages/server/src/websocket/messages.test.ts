import { expect, it } from 'vitest'
import { idOf, readMessage } from './messages.ts'

const call = { type: 'call', id: '1', tool: 'a' }

it('says of a text that is no JSON that it is none', () => {
  expect(() => readMessage('{')).toThrow(
    expect.objectContaining({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'The message is not JSON.',
      fix: { hint: 'Send one JSON object a message, with a type such as call and only the fields of that type.' },
      cause: expect.any(SyntaxError),
    }),
  )
})

it.each([
  ['id', 100],
  ['tool', 200],
  ['idempotencyKey', 512],
  ['repeatKey', 200],
  ['run', 128],
  ['requestId', 200],
  ['taskId', 200],
])('takes a call whose %s has up to %i characters', (name, most) => {
  const read = (length: number) => readMessage(JSON.stringify({ ...call, [name]: 'x'.repeat(length) }))
  expect(read(most)).toMatchObject({ type: 'call', onAsk: 'wait' })
  expect(() => read(most + 1)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
  if (['id', 'idempotencyKey', 'repeatKey'].includes(name))
    expect(() => read(0)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
})

it('takes a call with every field, with its input or an empty one', () => {
  const full = {
    ...call,
    stream: true,
    idempotencyKey: 'k',
    repeatKey: 'c',
    requestId: 'r',
    taskId: 't',
    run: 'n',
    input: { a: 1 },
  }
  expect(readMessage(JSON.stringify(full))).toEqual({ ...full, onAsk: 'wait' })
  expect(readMessage(JSON.stringify(call))).toEqual({ ...call, input: {}, onAsk: 'wait' })
  const slow = { ...full, purpose: 'a test', dryRun: true, onAsk: 'return' }
  expect(readMessage(JSON.stringify(slow))).toEqual(slow)
})

it.each<[string, unknown]>([
  ['nothing', null],
  ['a text', 'call'],
  ['a list', [call]],
  ['another type', { ...call, type: 'fly' }],
  ['no id', { type: 'call', tool: 'a' }],
  ['an id that is not a text', { ...call, id: 7 }],
  ['no tool', { type: 'call', id: '1' }],
  ['a tool that is not a text', { ...call, tool: 7 }],
  ['a stream that is neither true nor false', { ...call, stream: 'yes' }],
  ['a key that is not a text', { ...call, idempotencyKey: 7 }],
  ['a run that is not a text', { ...call, run: 7 }],
  ['a request that is not a text', { ...call, requestId: 7 }],
  ['a task that is not a text', { ...call, taskId: 7 }],
  ['an unknown field', { ...call, secret: true }],
  ['an unknown field of a receipt', { type: 'received', seq: 1, secret: true }],
  ['a receipt of nothing', { type: 'received' }],
  ['a number as a text', { type: 'received', seq: '1' }],
])('understands no message with %s', (_, value) => {
  expect(() => readMessage(JSON.stringify(value))).toThrow(
    expect.objectContaining({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringContaining('The message is not understood'),
      cause: expect.any(Error),
    }),
  )
})

it('takes an acknowledgement of 0 and more, with nothing else', () => {
  expect(readMessage('{"type":"received","seq":0}')).toEqual({ type: 'received', seq: 0 })
  for (const text of ['{"type":"received","seq":-1}', '{"type":"received","seq":1.5}'])
    expect(() => readMessage(text), text).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
})

it('refuses too many keys and elements before it parses them, and still finds the id', () => {
  const text = `{"type":"call","id":"7","tool":"a","input":[${'1,'.repeat(6_000)}`
  expect(() => readMessage(text, 100)).toThrow('over 100 keys and elements')
  expect(idOf(text)).toBe('7')
  expect(idOf(`{"input":{"id":"8"},"text":"${'x'.repeat(20_000)}"`)).toBeUndefined()
})

it('finds the id of what it could not read', () => {
  expect(idOf(JSON.stringify({ id: 'x'.repeat(100) }))).toBe('x'.repeat(100))
  const late = (length: number) => idOf(JSON.stringify({ pad: 'x'.repeat(length - 22), id: 'late' }))
  expect([late(10_000), late(10_001)]).toEqual(['late', undefined])
  expect([idOf(JSON.stringify({ id: 'x'.repeat(101) })), idOf('{'), idOf('{"id":7}')]).toEqual(Array(3).fill(undefined))
})
