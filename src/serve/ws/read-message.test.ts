import { expect, it } from 'vitest'
import { idOf, readMessage } from './read-message.ts'

const call = { type: 'call', id: '1', tool: 'a' }

it('says of a text that is no JSON that it is none', () => {
  expect(() => readMessage('{')).toThrow(
    expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message: 'The message is not JSON.' }),
  )
})

it.each([
  ['id', 100],
  ['tool', 200],
  ['idempotencyKey', 512],
  ['run', 128],
  ['requestId', 200],
  ['taskId', 200],
])('takes a call whose %s has up to %i characters', (name, most) => {
  const read = (length: number) => readMessage(JSON.stringify({ ...call, [name]: 'x'.repeat(length) }))
  expect(read(most)).toMatchObject({ type: 'call', onAsk: 'wait' })
  expect(() => read(most + 1)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
  if (name === 'id') expect(() => read(0)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
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
  expect([idOf(JSON.stringify({ id: 'x'.repeat(101) })), idOf('{'), idOf('{"id":7}')]).toEqual(Array(3).fill(undefined))
})
