import { expect, it } from 'vitest'
import { boundInput } from './input.ts'

const nest = (levels: number, wrap: (value: unknown) => unknown) => {
  let value = wrap(1)
  for (let level = 1; level < levels; level++) value = wrap(value)
  return value
}

it.each<[string, (value: unknown) => unknown]>([
  ['objects', (a) => ({ a })],
  ['lists', (a) => [a]],
])('takes %s as deep as the limit says, and no deeper', (_, wrap) => {
  const limits = { maxDepth: 5, maxBytes: 1_000 }
  expect(boundInput(nest(5, wrap), limits)).toEqual(nest(5, wrap))
  expect(() => boundInput(nest(6, wrap), limits)).toThrow(/deep/)
})
