import { describe, expect, it } from 'vitest'
import { takeSteps } from './index-file.ts'
import { applyDelta, readPackedHeader, readPackIndexInSteps } from './pack.ts'

const BASE = Buffer.from('0123456789')
const OFFSET = Buffer.from([0, 0, 0, 12])

/** An index of a pack, of version 2, with these objects. */
function indexOf(offsets: readonly Buffer[], long = Buffer.alloc(0)): Buffer {
  const tables = Buffer.alloc(8 + 1024)
  tables.writeUInt32BE(0xff744f63, 0)
  tables.writeUInt32BE(2, 4)
  tables.writeUInt32BE(offsets.length, 8 + 255 * 4)
  const hashes = offsets.map((_, index) => Buffer.alloc(20, index + 1))
  return Buffer.concat([tables, ...hashes, Buffer.alloc(4 * offsets.length), ...offsets, long, Buffer.alloc(40)])
}

describe('an index of a pack', () => {
  it('says where objects begin, also far behind', () => {
    const far = Buffer.from([0, 0, 0, 1, 0, 0, 0, 0])
    const index = takeSteps(readPackIndexInSteps(indexOf([Buffer.from([0x80, 0, 0, 0]), OFFSET], far), 20))
    expect([...index!.offsets]).toEqual([12, 2 ** 32])
    expect(index!.hashAt(2 ** 32)).toEqual(Buffer.alloc(20, 1))
    expect([index!.hashAt(13), index!.endOf(12), index!.endOf(2 ** 32)]).toEqual([undefined, 2 ** 32, undefined])
    expect(index!.offsetOf(Buffer.alloc(20, 2))).toBe(12)
  })

  it.each([
    ['is empty', Buffer.alloc(0)],
    ['is cut off', indexOf([OFFSET]).subarray(0, -41)],
    ['has two objects at one place', indexOf([OFFSET, OFFSET])],
    ['names a far place that it lacks', indexOf([Buffer.from([0x80, 0, 0, 9])])],
  ])('is not read if it %s', (_, bytes) => {
    expect(takeSteps(readPackIndexInSteps(bytes, 20))).toBeUndefined()
  })
})

describe('a delta', () => {
  it('copies and inserts', () => {
    expect(applyDelta(BASE, Buffer.from([10, 5, 0x91, 2, 3, 2, 0x61, 0x62]))?.toString()).toBe('234ab')
  })

  it.each([
    ['another base', [9, 1, 1, 0x61]],
    ['more than the base has', [10, 4, 0x91, 8, 4]],
    ['too little', [10, 5, 1, 0x61]],
    ['too much', [10, 1, 2, 0x61, 0x62]],
    ['text that is cut off', [10, 5, 5, 0x61]],
    ['a reserved code', [10, 0, 0]],
    ['nothing at all', []],
  ])('is refused with %s', (_, bytes) => {
    expect(applyDelta(BASE, Buffer.from(bytes))).toBeUndefined()
  })

  it('names what it changes by a distance or a hash', () => {
    expect(readPackedHeader(Buffer.from([0xe5, 0x01, 0x80, 0x01]), 20)).toEqual({
      type: 'delta',
      size: 21,
      dataAt: 4,
      distance: 129,
    })
    const named = readPackedHeader(Buffer.concat([Buffer.from([0x75]), Buffer.alloc(20, 7)]), 20)
    expect(named).toEqual({ type: 'delta', size: 5, dataAt: 21, base: Buffer.alloc(20, 7) })
    for (const kind of [0x00, 0x50]) expect(readPackedHeader(Buffer.from([kind]), 20)).toBeUndefined()
  })
})
