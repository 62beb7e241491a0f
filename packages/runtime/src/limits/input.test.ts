import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkJsonEntries } from './input.ts'

/** Of the message around the arguments, which are not counted. */
const ENVELOPE = 1_000

function countEntries(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const children = Object.values(value)
  return children.length + children.reduce((sum, child) => sum + countEntries(child), 0)
}

it('counts what parsing would find, however it is nested, spaced and quoted', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      // So many small ones that their text is looked at.
      const all = [value, ...Array(2_000).fill(',"[{\\'), [], {}, { 'a,"b': [[]] }]
      const text = `${JSON.stringify(all, null, space)}${' '.repeat(20_000)}`
      const entries = countEntries(all)
      expect(() => checkJsonEntries(text, entries - ENVELOPE)).not.toThrow()
      expect(() => checkJsonEntries(text, entries - ENVELOPE - 1)).toThrow('keys and elements')
    }),
    { numRuns: 100 },
  )
})

it('says which limit it is, and what to do', () => {
  const text = JSON.stringify(Array(60_000).fill(1))
  expect(() => checkJsonEntries(text, 50_000)).toThrow(
    expect.objectContaining({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'The input has over 50000 keys and elements, all together.',
      fix: { hint: 'Send less, in parts, or as one text; or have the owner raise limits.entries.' },
    }),
  )
})

it('counts no blank for an entry', () => {
  const text = `[${Array(2_000).fill('[ ],{ },[\t],{\n}')}]`
  expect(() => checkJsonEntries(text, 8_000 - ENVELOPE)).not.toThrow()
  expect(() => checkJsonEntries(text, 7_999 - ENVELOPE)).toThrow('keys and elements')
})

it('looks at a text only when it is so long that it can have too many entries', () => {
  const [maxEntries, max] = [10, 10 + ENVELOPE]
  expect(() => checkJsonEntries(`[${Array(max).fill(1)}]`, maxEntries)).not.toThrow()
  expect(() => checkJsonEntries(`[${Array(max + 1).fill(1)}]`, maxEntries)).toThrow('keys and elements')
  // No JSON at all, which the parser refuses.
  expect(() => checkJsonEntries(','.repeat(2 * max), maxEntries)).not.toThrow()
  expect(() => checkJsonEntries(','.repeat(2 * max + 1), maxEntries)).toThrow('keys and elements')
})

it('comes to an end for a text that is cut off anywhere', () => {
  for (const end of ['"', '"\\', '{', '[1,'])
    expect(() => checkJsonEntries(`${' '.repeat(5_000)}${end}`, 10)).not.toThrow()
})
