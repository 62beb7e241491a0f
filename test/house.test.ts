import { describe, expect, it } from 'vitest'
import { type House, measureHouse } from './support/house.ts'

/** A bound is where the tree stands, so that nothing gets worse. When a measure improves, move its bound with it. */
type Bound = { readonly max: number } | { readonly min: number }

const BOUNDS: Readonly<Record<keyof House, Bound>> = {
  files: { max: 925 },
  lines: { max: 148_300 },
  shareUnder30: { max: 7 },
  shareFrom60To250: { min: 68 },
  // A file that only the index of its folder imports counts, although others use it through the index.
  shareWithSingleImporter: { max: 40 },
  namesWithTwoHomes: { max: 0 },
  importsPastIndex: { max: 0 },
  foldersInCycles: { max: 0 },
  awkwardWords: { max: 0 },
  privateLabels: { max: 0 },
  castsThroughUnknown: { max: 0 },
  mixins: { max: 0 },
  proxies: { max: 0 },
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
