import { expect, it } from 'vitest'
import { deepFreeze } from './json.ts'

it('freezes every part and gives the same value back', () => {
  const value = { list: [{ name: 'x' }], text: 'y', nothing: null }
  expect(deepFreeze(value)).toBe(value)
  expect(() => Object.assign(value.list[0]!, { name: 'z' })).toThrow(TypeError)
  expect(() => value.list.push({ name: 'z' })).toThrow(TypeError)
})
