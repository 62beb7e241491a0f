import { describe, expect, it } from 'vitest'
import type { HubOptions } from '../../../../core/src/options.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'
import { openListing } from '../commands/list.ts'

describe('the listing of the command', () => {
  it('is that of a hub, whatever profile and lists say', async () => {
    const cases: HubOptions['visibility'][] = [
      undefined,
      { profile: 'minimal' },
      { allow: ['group:util'] },
      { deny: ['clarify', 'group:util'] },
    ]
    for (const visibility of cases) {
      const hub = testHub({ visibility })
      const listed = await openListing({ visibility })
      expect(listed.map(({ listing }) => listing)).toEqual(hub.list({ hidden: true }))
      await hub.close()
    }
  })
})
