import { describe, expect, it } from 'vitest'
import { type House, measureHouse } from './support/house.ts'

/** A bound is where the tree stands, so that nothing gets worse. When a measure improves, move its bound with it. */
type Bound = { readonly max: number } | { readonly min: number }

const BOUNDS: Readonly<Record<keyof House, Bound>> = {
  files: { max: 1_268 }, //                  target: 700
  lines: { max: 122_500 }, //                target: 96,000
  shareUnder30: { max: 20 }, //            target: 5
  shareFrom60To250: { min: 57 }, //        target: at least 65
  shareWithSingleImporter: { max: 41 }, // target: 15
  namesWithTwoHomes: { max: 35 }, //         target: 0
  importsPastIndex: { max: 2_690 }, //       target: 0
  foldersInCycles: { max: 2 }, //            target: 0
  awkwardWords: { max: 482 }, //             target: 20
  privateLabels: { max: 176 }, //            target: 0
  castsThroughUnknown: { max: 25 }, //       target: 3
  mixins: { max: 4 }, //                     target: 0
  proxies: { max: 1 }, //                    target: 0
}

/** More would not be read. */
const MAX_NAMED = 200

describe('the shape of the sources', () => {
  const house = measureHouse()

  it.each(Object.entries(BOUNDS) as [keyof House, Bound][])('keeps %s within %o', (name, bound) => {
    const { value, offenders } = house[name]
    const isWithin = 'max' in bound ? value <= bound.max : value >= bound.min
    expect(isWithin, `${name} is ${value}:\n${listed(offenders)}`).toBe(true)
  })
})

function listed(offenders: readonly string[]): string {
  const left = offenders.length - MAX_NAMED
  return [...offenders.slice(0, MAX_NAMED), ...(left > 0 ? [`and ${left} more`] : [])].join('\n')
}
