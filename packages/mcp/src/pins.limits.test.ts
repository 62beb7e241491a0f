import { expect, it } from 'vitest'
import { fitPins, type Pin } from './pins.ts'

/** The room of one server, and what every pin of these tests takes of it beside its texts. */
const ROOM = 1_000_000
const HASH = 'a'.repeat(64)
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const pin = (tool: string, description?: string, others: Partial<Pin> = {}): Pin => ({
  server: 's',
  tool,
  hash: HASH,
  at: '2026-11-15T00:00:00.000Z',
  parts: description === undefined ? {} : { description },
  ...others,
})
const least = ({ server, tool, hash, at }: Pin) => bytes({ server, tool, hash, at }) + 200
/** A text with which a pin takes this many bytes beside its least. */
const textOf = (size: number) => 'x'.repeat(size - bytes({ description: '' }))
const drifted = (description: string) => ({ drifted: { hash: HASH, at: '', parts: { description } } })
const nothing = new Set<string>()

it('keeps everything while there is room', () => {
  const known = [pin('a', 'A', drifted('B')), pin('b', 'B', { isNew: true })]
  const fresh = [pin('c', 'C')]
  expect(fitPins(known, fresh, nothing)).toEqual([...known, ...fresh])
})

it('keeps 2,000 pins, and never drops one that is known', () => {
  const many = (count: number, name: string) => Array.from({ length: count }, (_, index) => pin(`${name}${index}`))
  expect(fitPins([], many(2_001, 'a'), nothing)).toHaveLength(2_000)
  expect(
    fitPins(many(1_999, 'a'), many(2, 'b'), nothing)
      .map(({ tool }) => tool)
      .slice(1_999),
  ).toEqual(['b0'])
  expect(fitPins(many(2_001, 'a'), many(2, 'b'), nothing)).toHaveLength(2_001)
})

it('takes a new pin exactly while a million bytes suffice, and a smaller one after it no more', () => {
  const room = ROOM - least(pin('known'))
  const longest = pin('n'.repeat(room - least(pin(''))))
  expect(least(longest)).toBe(room)
  expect(fitPins([pin('known')], [longest], nothing)).toHaveLength(2)
  const longer = pin(`${longest.tool}n`)
  expect(fitPins([pin('known')], [longer], nothing)).toEqual([pin('known')])
  expect(fitPins([pin('known')], [longer, pin('small')], nothing)).toEqual([pin('known')])
})

it('keeps a text exactly while a million bytes suffice', () => {
  const size = ROOM - least(pin('a')) - bytes({})
  const fits = pin('a', textOf(size + bytes({})))
  // What did not drift takes the two bytes of an empty object.
  expect(fitPins([{ ...fits, parts: { description: textOf(size) } }], [], nothing)[0]!.parts).not.toEqual({})
  expect(fitPins([fits], [], nothing)).toEqual([fits])
  expect(fitPins([pin('a', textOf(size + bytes({}) + 1))], [], nothing)).toEqual([pin('a')])
})

it('counts bytes, not characters', () => {
  const size = ROOM - least(pin('a'))
  expect(fitPins([pin('a', '€'.repeat(size / 2))], [], nothing)).toEqual([pin('a')])
})

it('first drops the texts of changes, then those of new tools, then those of tools that are not listed', () => {
  const half = textOf(ROOM / 2)
  const third = textOf(Math.floor(ROOM / 3))
  const listed = new Set(['listed', 'new-listed'])
  const kept = (pins: readonly Pin[]) =>
    fitPins(pins, [], listed).flatMap(({ tool, parts }) => ('description' in parts ? [tool] : []))
  expect(kept([pin('new', half, { isNew: true }), pin('listed', half)])).toEqual(['listed'])
  expect(kept([pin('gone', half), pin('listed', half)])).toEqual(['listed'])
  expect(kept([pin('new-listed', half, { isNew: true }), pin('gone', half)])).toEqual(['gone'])
  expect(kept([pin('new', half, { isNew: true }), pin('new-listed', half, { isNew: true })])).toEqual(['new-listed'])
  const changed = [pin('listed', third, drifted(half)), pin('gone', third)]
  expect(fitPins(changed, [], listed)).toEqual([
    { ...changed[0], drifted: { hash: HASH, at: '', parts: {} } },
    changed[1],
  ])
  const small = [pin('listed', third, drifted(third)), pin('gone', third, drifted('B'))]
  expect(fitPins(small, [], listed)[0]).toEqual({ ...small[0], drifted: { hash: HASH, at: '', parts: {} } })
})
