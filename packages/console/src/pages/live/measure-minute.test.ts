import { describe, expect, it } from 'vitest'
import { measureMinute, type Sample } from './measure-minute.ts'

const NOW = 1_000_000
const ended = (agoMs: number, part: Partial<Sample> = {}): Sample => ({
  at: NOW - agoMs,
  durationMs: 10,
  isFailure: false,
  hasWaited: false,
  ...part,
})

describe('the last minute', () => {
  it('counts what ended in it, and how much of that failed', () => {
    const minute = measureMinute([ended(0), ended(1_000, { isFailure: true }), ended(60_000), ended(70_000)], NOW)
    expect(minute).toMatchObject({ calls: 2, failures: 1, perSecond: 2 / 60 })
    expect(minute.callSlices.at(-1)).toBe(2)
    expect(minute.failureSlices.reduce((sum, each) => sum + each, 0)).toBe(1)
  })

  it('does not take what it cannot know for silence', () => {
    expect(measureMinute([ended(0), ended(500)], NOW, NOW - 2_000).perSecond).toBe(1)
  })

  it('has quantiles that were measured, without the time that people took', () => {
    const times = Array.from({ length: 100 }, (_, index) => ended(index, { durationMs: index + 1 }))
    const waited = ended(0, { durationMs: 60_000, hasWaited: true })
    expect(measureMinute([...times, waited], NOW)).toMatchObject({ p50Ms: 50, p95Ms: 95 })
    expect(measureMinute([waited], NOW)).toMatchObject({ calls: 1, p50Ms: undefined, p95Ms: undefined })
  })
})
