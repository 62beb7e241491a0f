import { expect, it } from 'vitest'
import { isPlainObject } from './json.ts'

it('takes objects that are data', () => {
  for (const value of [{}, { a: 1 }, Object.create(null), JSON.parse('{"__proto__":1}')])
    expect(isPlainObject(value)).toBe(true)
})

it('takes nothing else', () => {
  class Point {}
  for (const value of [null, undefined, 1, 'x', [], new Point(), new Date(), new Map(), Object.create({}), () => 1])
    expect(isPlainObject(value)).toBe(false)
})
