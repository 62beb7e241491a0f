import { describe, expect, it } from 'vitest'
import { byteRange } from './artifact-routes.ts'

describe('a range', () => {
  it.each([
    ['bytes=0-4', { start: 0, end: 5 }],
    ['bytes=8-', { start: 8, end: 10 }],
    ['bytes=-3', { start: 7, end: 10 }],
    ['bytes=-99', { start: 0, end: 10 }],
    ['bytes=9-999', { start: 9, end: 10 }],
    ['bytes=10-', 'outside'],
    ['bytes=-0', 'outside'],
    ['bytes=5-2', 'all'],
    ['bytes=0-1,4-5', 'all'],
    ['bytes=-', 'all'],
    ['lines=0-1', 'all'],
    [undefined, 'all'],
  ])('%s of ten bytes is %o', (header, wanted) => {
    expect(byteRange(header, 10)).toEqual(wanted)
  })

  it('of nothing is outside', () => {
    expect(byteRange('bytes=0-', 0)).toBe('outside')
    expect(byteRange('bytes=-1', 0)).toBe('outside')
  })
})
