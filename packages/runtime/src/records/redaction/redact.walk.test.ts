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

  it.each<[string, number, (inner: unknown) => unknown]>([
    ['a list', 101, (inner) => [inner]],
    ['an object', 101, (inner) => ({ inner })],
    ['a map', 101, (inner) => new Map([['inner', inner]])],
    ['the keys of a map', 101, (inner) => new Map([[inner, 1]])],
    ['a set', 101, (inner) => new Set([inner])],
    // Each of these is two levels.
    ['an error', 50, (inner) => Object.assign(new Error('x'), { inner })],
    ['a toJSON', 50, (inner) => ({ toJSON: () => [inner] })],
  ])('are out of reach more than a hundred deep in %s', (_name, most, wrap) => {
    const nest = (depth: number) => Array.from({ length: depth }).reduce((inner) => wrap(inner), 'x' as unknown)
    const isCut = (depth: number) => inspect(redactor.value(nest(depth)), { depth: 500 }).includes('too-deep')
    expect([isCut(most), isCut(most + 1)]).toEqual([false, true])
  })

  it('end in a cycle behind the first 500 objects', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    const value = [...Array.from({ length: 498 }, () => ({})), cycle]
    expect(JSON.stringify(redactor.value(value).at(-1))).toBe('[["[redacted:cycle]"]]')
  })

  it('end behind 100,000 objects that say themselves what they are', () => {
    const value = Array.from({ length: 100_001 }, () => ({ toJSON: () => 'x' }))
    const output = redactor.value<readonly unknown[]>(value)
    expect(output.slice(-2)).toEqual(['x', '[redacted:too-large]'])
  })

  it('are all that a secret key can hold, and two of a kind stay as many as they are', () => {
    const value = { password: 5, token: 5n, secret: { a: 1 }, cookie: true, passwd: undefined, apiKey: '' }
    const mark = '[redacted:key]'
    expect(redactor.value(value)).toEqual({ ...value, password: mark, token: mark, secret: mark })
    const three = Object.fromEntries([1, 2, 3].map((n) => [`${secret}${n}`, n]))
    expect(Object.keys(redactor.value(three))).toEqual(
      ['', ' 2', ' 3'].map((number) => `[redacted:github-token]${number}`),
    )
    const named = new Map<unknown, unknown>([
      [{}, 1],
      ['password', 'x'],
      ['a', 'b'],
    ])
    expect([...redactor.value(named).values()]).toEqual([1, mark, 'b'])
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
    const dates = [Object.assign(new Date(0), { token: 'x' }), new (class extends Date {})(0)]
    expect(redactor.value<unknown>(dates)).toEqual(['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'])
    class Point {
      x = 1
    }
    const point = new Point()
    expect(redactor.value(point)).toBe(point)
    expect(redactor.value({ a: new String('plain') })).toEqual({ a: 'plain' })
  })
})
