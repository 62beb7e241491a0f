import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor()

describe('secrets in unusual places', () => {
  const secret = `ghp_${'aB3dE6gH9'.repeat(4)}`
  const known = createRedactor({ values: ['hunter2-very-secret'] })
  const texts = (value: unknown) => inspect(value, { depth: 20, showHidden: true })

  it('are found in keys, and two of a kind stay two', () => {
    const value = { keep: 1, [secret]: 2, [`${secret}x`]: { 'hunter2-very-secret': 3 } }
    expect(known.value(value)).toEqual({
      keep: 1,
      '[redacted:github-token]': 2,
      '[redacted:github-token] 2': { '[redacted:secret]': 3 },
    })
    expect(Object.keys(value)).toEqual(['keep', secret, `${secret}x`])
    expect(known.value({ [`${'x'.repeat(300)}${secret}`]: 1 })).not.toHaveProperty(`${'x'.repeat(300)}${secret}`)
  })

  it.each<[string, unknown, unknown]>([
    [
      'a URL',
      { url: new URL(`https://x.example/?k=${secret}`) },
      { url: 'https://x.example/?k=[redacted:github-token]' },
    ],
    ['a toJSON', { toJSON: () => ({ deep: { toJSON: () => [secret] } }) }, { deep: ['[redacted:github-token]'] }],
    ['a toJSON on a list', Object.assign([1], { toJSON: () => secret }), '[redacted:github-token]'],
    ['a hidden toJSON', Object.defineProperty({}, 'toJSON', { value: () => secret }), '[redacted:github-token]'],
    ['a map', new Map([[secret, { token: 'x' }]]), new Map([['[redacted:github-token]', { token: '[redacted:key]' }]])],
    ['a map by key', new Map([['password', 'x']]), new Map([['password', '[redacted:key]']])],
    ['a set', new Set([1, secret]), new Set([1, '[redacted:github-token]'])],
    ['a buffer', { b: Buffer.from(`x ${secret}`) }, { b: '[redacted:bytes]' }],
    ['bytes', [new Uint8Array(Buffer.from(secret)).buffer], ['[redacted:bytes]']],
    ['a boxed text', [new String(secret)], ['[redacted:github-token]']],
    ['an error', [new TypeError(secret)], [{ name: 'TypeError', message: '[redacted:github-token]' }]],
    ['a date that lies', [Object.assign(new Date(0), { toJSON: () => secret })], ['[redacted:github-token]']],
  ])('are found in %s', (_name, value, expected) => {
    expect(redactor.value(value)).toEqual(expected)
    expect(texts(redactor.value(value))).not.toContain(secret)
  })

  it.each<[string, (inner: unknown) => unknown]>([
    ['a list', (inner) => [inner]],
    ['an object', (inner) => ({ inner })],
    ['a map', (inner) => new Map([['inner', inner]])],
    ['the keys of a map', (inner) => new Map([[inner, 1]])],
    ['a set', (inner) => new Set([inner])],
    ['an error', (inner) => Object.assign(new Error('x'), { inner })],
    ['a toJSON', (inner) => ({ toJSON: () => [inner] })],
  ])('are out of reach more than a hundred deep in %s', (_name, wrap) => {
    const nest = (depth: number) => Array.from({ length: depth }).reduce((inner) => wrap(inner), 'x' as unknown)
    const isCut = (depth: number) => inspect(redactor.value(nest(depth)), { depth: 500 }).includes('too-deep')
    expect([isCut(40), isCut(150)]).toEqual([false, true])
  })

  it('do not come back through a toJSON that returns its own object', () => {
    const value: Record<string, unknown> = { key: secret }
    value.toJSON = () => value
    expect(JSON.stringify(redactor.value(value))).toBe('{"key":"[redacted:github-token]"}')
  })

  it('are not shown by what cannot be read, and nothing is thrown', () => {
    const no = () => {
      throw new Error(secret)
    }
    const proxy = new Proxy({}, { get: no, ownKeys: no, getPrototypeOf: no })
    const values = [proxy, { toJSON: no }, Object.defineProperty({}, 'x', { get: no, enumerable: true })]
    expect(redactor.value({ keep: 1, values })).toEqual({ keep: 1, values: values.map(() => '[redacted:unreadable]') })
  })

  it('end a toJSON that makes new objects without end', () => {
    class Endless {
      toJSON() {
        return [new Endless(), new Endless()]
      }
    }
    expect(JSON.stringify(redactor.value(new Endless()))).toContain('[redacted:too-')
  })

  it('leave maps, sets, bytes and dates without any as they are', () => {
    const value = [new Map([['a', 1]]), new Set(['a']), Buffer.from('abc'), new Float64Array(3), new Date(0)]
    expect(redactor.value(value)).toBe(value)
  })
})
