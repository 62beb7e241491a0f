import { describe, expect, it } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { cacheSet } from './cache-set.ts'

describe('core/util.cache.set', () => {
  it('keeps a value for the run', () => {
    const ctx = toolContext()
    expect(cacheSet.execute({ key: 'page', value: [1, 2] }, ctx)).toEqual({ stored: true, bytes: 5 })
    expect(ctx.cache.get('page')).toEqual({ value: [1, 2], expiresAt: undefined })
    expect(ctx.collected).toEqual([{ type: 'tool', ref: 'call-1', summary: 'cached 5 bytes under "page"' }])
  })

  it('says when the value will be forgotten', () => {
    const ctx = toolContext({ now: 0 })
    expect(cacheSet.execute({ key: 'page', value: 1, ttlMs: 60_000 }, ctx)).toEqual({
      stored: true,
      bytes: 1,
      expiresAt: '1970-01-01T00:01:00.000Z',
    })
    expect(ctx.cache.get('page')).toEqual({ value: 1, expiresAt: 60_000 })
  })

  it('replaces an old value', () => {
    const ctx = toolContext()
    cacheSet.execute({ key: 'page', value: 'old' }, ctx)
    cacheSet.execute({ key: 'page', value: 'new' }, ctx)
    expect(ctx.cache.get('page')?.value).toBe('new')
  })
})
