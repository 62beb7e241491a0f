import { expect, it } from 'vitest'
import { type Drift, describeDrift, shortHash } from './drift.ts'

const hash = `${'0123456789abcdef'.repeat(2)}ffff`
const describe = (before: Drift['before'], after: Drift['after'], others: Partial<Drift> = {}) =>
  describeDrift({ before, after, hash, ...others })
const lines = async (...given: Parameters<typeof describe>) => (await describe(...given)).split('\n').slice(2)
const numbered = (count: number, name = 'l') => Array.from({ length: count }, (_, index) => `${name}${index}`)

it('names every part that changed, and shows each', async () => {
  const before = { title: 'a', description: 'b', input: 'c', output: 'd', annotations: 'e' }
  const after = { title: 'A', description: 'B', input: 'C', output: 'D', annotations: 'E' }
  expect(await describe(before, after)).toBe(
    `its server changed its title, description, input schema, output schema, annotations since it was first seen (now 0123456789abcdef0123456789abcdef)
What changed:
title:
-a
+A
description:
-b
+B
input schema:
-c
+C
output schema:
-d
+D
annotations:
-e
+E`,
  )
})

it('says what else it must be where every part is the same', async () => {
  expect(await describe({ title: 'a' }, { title: 'a' })).toBe(
    'its server changed its order of its keys or its name since it was first seen (now 0123456789abcdef0123456789abcdef)\nWhat changed:\n',
  )
})

it('says that a tool is new', async () => {
  expect(await describe({}, { title: 'a' }, { isNew: true })).toMatch(
    /^its server added it since the server was first seen \(now [0-9a-f]{32}\)\nWhat changed:\ntitle:\n/,
  )
})

it('shows parts that came and went', async () => {
  expect(await lines({ title: 'a' }, { output: 'b' })).toEqual(['title:', '-a', 'output schema:', '+b'])
})

it('shows one line before and after a change, and nothing about the end of the text', async () => {
  const old = numbered(7)
  const now = old.with(3, 'other')
  expect(await lines({ input: old.join('\n') }, { input: now.join('\n') })).toEqual([
    'input schema:',
    ' l2',
    '-l3',
    '+other',
    ' l4',
  ])
  expect(await lines({ input: 'a' }, { input: 'b' })).toEqual(['input schema:', '-a', '+b'])
})

it('shows 20 lines, and says how many more there are', async () => {
  const added = (count: number) => ['same', ...numbered(count)].join('\n')
  const whole = await lines({ input: 'same' }, { input: added(18) })
  expect(whole).toHaveLength(20)
  expect(whole.at(-1)).toBe('+l17')
  const cut = await lines({ input: 'same' }, { input: added(19) })
  expect(cut.slice(-2)).toEqual(['+l17', '… 1 more lines'])
})

it('compares 200 lines from the line before the first difference on', async () => {
  const compared = (count: number) => {
    const old = [...numbered(50, 'before'), 'old', ...numbered(count - 2)]
    return lines({ input: old.join('\n') }, { input: old.with(50, 'now').join('\n') })
  }
  expect(await compared(200)).toEqual(['input schema:', ' before49', '-old', '+now', ' l0'])
  expect(await compared(201)).toEqual([
    'input schema:',
    ' before49',
    '-old',
    '+now',
    ' l0',
    '… more lines, which are not compared',
  ])
  const late = ['a', ...numbered(199), 'tail']
  expect(await lines({ input: late.join('\n') }, { input: [...late.with(0, 'b'), 'more'].join('\n') })).toEqual([
    'input schema:',
    '-a',
    '+b',
    ' l0',
    '… more lines, which are not compared',
  ])
})

it('shows what is behind an end that is the same', async () => {
  expect(await lines({ input: 'a\nb' }, { input: 'a\nb\nc' })).toEqual(['input schema:', ' b', '+c'])
  expect(await lines({ input: 'a\nb\nc' }, { input: 'a\nb' })).toEqual(['input schema:', ' b', '-c'])
})

it('breaks lines after 100 characters, between words where it can', async () => {
  const word = 'x'.repeat(60)
  expect(await lines({}, { input: `${word} ${word}` })).toEqual(['input schema:', `+${word}`, `+ ${word}`])
  expect(await lines({}, { input: 'y'.repeat(101) })).toEqual(['input schema:', `+${'y'.repeat(100)}`, '+y'])
  expect(await lines({ input: '' }, { input: 'a\n\nb' })).toEqual(['input schema:', '+a', '+', '+b'])
})

it('shows no character that drives a terminal', async () => {
  expect(await lines({ input: 'a' }, { input: '\u{1b}[2J' })).toEqual(['input schema:', '-a', '+\\u{1b}[2J'])
})

it('shortens a hash to 32 characters', () => {
  expect(shortHash(hash)).toBe('0123456789abcdef0123456789abcdef')
})
