import { describe, expect, it } from 'vitest'
import { clampSpan, moveSpan, placeBar, spanOf, ticksOf, zoomSpan } from './time-span.ts'

const whole = { from: 1_000, to: 2_000 }

describe('time spans', () => {
  it('goes from the first start to the last end, and to now while something runs', () => {
    expect(
      spanOf(
        [
          { begin: 5, end: 9 },
          { begin: 2, end: 4 },
        ],
        100,
      ),
    ).toEqual({ from: 2, to: 9 })
    expect(spanOf([{ begin: 5, end: undefined }], 100)).toEqual({ from: 5, to: 100 })
  })

  it('is never empty, so that a bar always has a place', () => {
    expect(spanOf([{ begin: 5, end: 5 }], 0)).toEqual({ from: 5, to: 6 })
    expect(spanOf([], 0)).toEqual({ from: 0, to: 1 })
  })

  it('zooms around a time that stays where it is', () => {
    expect(zoomSpan(whole, 0.5, whole)).toEqual({ from: 1_250, to: 1_750 })
    expect(zoomSpan(whole, 0.5, whole, 1_200)).toEqual({ from: 1_100, to: 1_600 })
  })

  it('never leaves the whole', () => {
    expect(zoomSpan({ from: 1_400, to: 1_600 }, 50, whole)).toEqual(whole)
    expect(moveSpan({ from: 1_600, to: 1_800 }, 5, whole)).toEqual({ from: 1_800, to: 2_000 })
    expect(clampSpan({ from: 900, to: 1_100 }, whole)).toEqual({ from: 1_000, to: 1_200 })
  })

  it.each([
    [{ from: 0, to: 2_113 }, [0, 500, 1_000, 1_500, 2_000]],
    [{ from: 0, to: 9 }, [0, 2, 4, 6, 8]],
    [{ from: 0, to: 240_000 }, [0, 60_000, 120_000, 180_000, 240_000]],
    [{ from: 0, to: 4 * 3_600_000 }, [0, 3_600_000, 7_200_000, 10_800_000, 14_400_000]],
  ])('puts round times on the axis of %o', (span, ticks) => {
    expect(ticksOf(span, 0, 5)).toEqual(ticks)
  })

  it('counts ticks from the start of the run, whatever part is seen', () => {
    expect(ticksOf({ from: 1_710, to: 1_910 }, 1_000, 4)).toEqual([750, 800, 850, 900])
  })
})

describe('placeBar', () => {
  it('places a call in percent, cut at the edges', () => {
    expect(placeBar({ begin: 1_250, end: 1_750 }, whole, 0)).toMatchObject({ from: 25, length: 50, isVisible: true })
    expect(placeBar({ begin: 500, end: 1_500 }, whole, 0)).toMatchObject({ from: 0, length: 50 })
  })

  it('lets a running call go to the end', () => {
    expect(placeBar({ begin: 1_500, end: undefined }, whole, 2_000)).toMatchObject({ from: 50, length: 50 })
  })

  it('has its words where there is room', () => {
    const words = (begin: number, end: number) => placeBar({ begin, end }, whole, 0).wordsAt
    expect([words(1_000, 1_300), words(1_600, 1_900), words(1_010, 1_990)]).toEqual(['behind', 'before', 'nowhere'])
  })

  it('says on which side a call is that is out of sight', () => {
    expect(placeBar({ begin: 100, end: 200 }, whole, 0)).toMatchObject({ isVisible: false, isAfter: false })
    expect(placeBar({ begin: 3_000, end: 3_100 }, whole, 0)).toMatchObject({ isVisible: false, isAfter: true })
  })
})
