import { describe, expect, it } from 'vitest'
import { isSettled, settlesAt } from './file-memo.ts'

describe('the change time of a file', () => {
  it('is taken for settled after 50 ms', () => {
    expect(settlesAt({ ctimeMs: 1_700_000_000_123.25 }) - 1_700_000_000_123.25).toBe(50)
  })

  it('is taken for settled after two seconds where the file system counts whole seconds', () => {
    expect(settlesAt({ ctimeMs: 1_700_000_000_000 }) - 1_700_000_000_000).toBeGreaterThan(2_000)
  })

  it('is not settled in the future', () => {
    expect(isSettled({ ctimeMs: Date.now() + 60_000 })).toBe(false)
  })
})
