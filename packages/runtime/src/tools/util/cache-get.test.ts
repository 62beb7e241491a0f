import { describe, expect, it } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { cacheGet } from './cache-get.ts'

describe('core/util.cache.get', () => {
  it('gives what the run has under the key', () => {
    const ctx = toolContext()
    ctx.cache.set('page', { text: 'hello' })
    expect(cacheGet.execute({ key: 'page' }, ctx)).toEqual({ found: true, value: { text: 'hello' } })
    expect(ctx.collected).toEqual([{ type: 'tool', ref: 'call-1', summary: 'cache hit for "page"' }])
  })

  it('tells a kept null from nothing', () => {
    const ctx = toolContext()
    ctx.cache.set('nothing', null)
    expect(cacheGet.execute({ key: 'nothing' }, ctx)).toEqual({ found: true, value: null })
    expect(cacheGet.execute({ key: 'other' }, ctx)).toEqual({ found: false })
  })

  it('finds nothing under names that JavaScript objects inherit', () => {
    expect(cacheGet.execute({ key: 'constructor' }, toolContext())).toEqual({ found: false })
  })
})
