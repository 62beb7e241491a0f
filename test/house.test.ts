import { afterAll, describe, expect, it } from 'vitest'
import { cyclesOf } from './support/cycles.ts'
import { type House, measureHouse } from './support/house.ts'

/**
 * Where the tree should be, and where it may not be worse: `most` or, for what should be large, `least`. A bound follows
 * the tree towards the goal, never away from it.
 */
type Limit =
  | { readonly most: { readonly goal: number; readonly bound: number } }
  | { readonly least: { readonly goal: number; readonly bound: number } }

const LIMITS: Readonly<Record<keyof House, Limit>> = {
  files: { most: { goal: 900, bound: 1_000 } },
  lines: { most: { goal: 140_000, bound: 158_500 } },
  linesOfLargestUnit: { most: { goal: 37_000, bound: 37_000 } },
  longestFile: { most: { goal: 400, bound: 400 } },
  shareUnder30: { most: { goal: 5, bound: 7 } },
  shareFrom60To250: { least: { goal: 70, bound: 66 } },
  shareWithOneUser: { most: { goal: 15, bound: 20 } },
  namesWithTwoHomes: { most: { goal: 0, bound: 0 } },
  importsPastIndex: { most: { goal: 0, bound: 0 } },
  unitsInCycles: { most: { goal: 0, bound: 0 } },
  filesInLargestCycle: { most: { goal: 10, bound: 10 } },
  fieldsOfCall: { most: { goal: 35, bound: 35 } },
  filesThatKnowManyMachines: { most: { goal: 8, bound: 10 } },
  conditionalSpreads: { most: { goal: 100, bound: 450 } },
  participleTypes: { most: { goal: 0, bound: 9 } },
  awaitables: { most: { goal: 100, bound: 250 } },
  checksForPromises: { most: { goal: 2, bound: 29 } },
  awkwardWords: { most: { goal: 0, bound: 0 } },
  awkwardWordsEverywhere: { most: { goal: 0, bound: 60 } },
  privateLabels: { most: { goal: 0, bound: 0 } },
  castsThroughUnknown: { most: { goal: 0, bound: 0 } },
  mixins: { most: { goal: 0, bound: 0 } },
  proxies: { most: { goal: 0, bound: 0 } },
}

/** More would not be read. */
const MAX_NAMED = 200

describe('the shape of the sources', () => {
  const house = measureHouse()
  const limits = Object.entries(LIMITS) as [keyof House, Limit][]

  it.each(limits)('keeps %s within %o', (name, limit) => {
    const { value, offenders } = house[name]
    const isWithin = 'most' in limit ? value <= limit.most.bound : value >= limit.least.bound
    expect(isWithin, `${name} is ${value}:\n${listed(offenders)}`).toBe(true)
  })

  it('has no bound beyond its goal', () => {
    const beyond = limits.filter(([, limit]) =>
      'most' in limit ? limit.most.bound < limit.most.goal : limit.least.bound > limit.least.goal,
    )
    expect(beyond).toEqual([])
  })

  afterAll(() => {
    const rows = limits.map(([name, limit]) => {
      const { goal, bound } = 'most' in limit ? limit.most : limit.least
      return [name, { now: Math.round(house[name].value), goal, bound }] as const
    })
    console.table(Object.fromEntries(rows))
  })
})

describe('cycles', () => {
  it('are the groups in which each reaches each, the largest first', () => {
    const next = { a: 'b', b: 'c', c: 'ad', d: 'e', e: 'd', f: 'ag', g: '' }
    const graph = new Map(Object.entries(next).map(([from, to]) => [from, new Set(to)]))
    expect(cyclesOf(graph).map((cycle) => cycle.sort().join(''))).toEqual(['abc', 'de'])
  })
})

function listed(offenders: readonly string[]): string {
  const left = offenders.length - MAX_NAMED
  return [...offenders.slice(0, MAX_NAMED), ...(left > 0 ? [`and ${left} more`] : [])].join('\n')
}
