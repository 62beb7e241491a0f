import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyAsJson, NOT_PLAIN } from './json.ts'

describe('copyAsJson', () => {
  it('copies plain data as JSON would, or says that it cannot', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withNullPrototype: true, withSparseArray: true }), (value) => {
        const json = JSON.stringify(value)
        const copy = copyAsJson(value)
        if (copy !== NOT_PLAIN) expect(copy).toStrictEqual(JSON.parse(json))
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = copyAsJson(value)
        const hasMinusZeroOrProto = /-0|__proto__/.test(Object.is(value, -0) ? '-0' : describeOdd(value))
        if (!hasMinusZeroOrProto) expect(copy).toStrictEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('shares nothing with what it copied', () => {
    const value = { list: [{ deep: 1 }], gone: undefined }
    const copy = copyAsJson(value) as typeof value
    copy.list[0]!.deep = 2
    expect(value.list[0]!.deep).toBe(1)
    expect(copy).not.toHaveProperty('gone')
  })

  it.each([Number.NaN, -0, new Date(), { toJSON: () => 1 }, new Map(), () => 1, 1n, [undefined]])(
    'leaves %s to JSON',
    (value) => {
      expect(copyAsJson(value)).toBe(NOT_PLAIN)
    },
  )
})

/** Marks what JSON itself changes. */
function describeOdd(value: unknown): string {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : ''
  return Object.entries(value)
    .map(([key, part]) => (key === '__proto__' ? key : describeOdd(part)))
    .join()
}
