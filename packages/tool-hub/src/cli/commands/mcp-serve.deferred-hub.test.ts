import { describe, expect, it } from 'vitest'
import type { HubOptions } from '../../../../core/src/options.ts'
import type { Hub } from '../../../../runtime/src/hub/hub.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'
import { deferHub } from './mcp-serve.ts'

describe('a hub that is made later', () => {
  it.each<[string, HubOptions]>([
    ['all tools', {}],
    ['a profile with its own names', { visibility: { profile: 'coding' } }],
    ['a choice', { visibility: { allow: ['group:fs', 'exec'], deny: ['core/fs.move'] } }],
    ['a search', { toolSearch: { discovery: 'on', pin: ['group:util'] } }],
    ['a search and a profile', { visibility: { profile: 'coding' }, toolSearch: { discovery: 'on', pin: ['exec'] } }],
  ])('shows the very cards of the one that comes: %s', async (_, options) => {
    const hub = testHub(options) as unknown as Hub
    const deferred = deferHub(options, () => Promise.reject(new Error('not needed')))
    for (const dialect of [undefined, 'coding', 'files', 'unknown'])
      for (const all of [false, true]) expect(deferred.cards({ dialect, all })).toEqual(hub.cards({ dialect, all }))
    await hub.close()
    await deferred.close()
  })

  it('is made once, by the first call, and closed only when it was made', async () => {
    let made = 0
    const deferred = deferHub({}, async () => {
      made++
      return testHub() as unknown as Hub
    })
    expect(made).toBe(0)
    const calls = ['a', 'b'].map((text) => deferred.callDynamic('core/util.hash.sha256Text', { text }))
    expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true)
    await deferred.load()
    expect(made).toBe(1)
    await deferred.close()
    const unused = deferHub({}, () => Promise.reject(new Error('not needed')))
    await unused.endRun('run-1')
    await unused.close()
  })

  it('tells every call why it cannot be made', async () => {
    const deferred = deferHub({}, () => Promise.reject(new Error('a broken rule')))
    await expect(deferred.callDynamic('core/util.time.now', {})).rejects.toThrow('a broken rule')
    await expect(deferred.load()).rejects.toThrow('a broken rule')
  })
})
