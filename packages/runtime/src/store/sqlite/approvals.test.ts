import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { newOwner } from '../../../../sandbox/src/system/processes.ts'

const store = openStore(join(temporaryFolder('asks'), 'data'))
afterAll(() => store.close())

it('looks through the 100 newest approval requests of a call for one whose process is gone', async () => {
  const owner = newOwner()
  const dead = JSON.stringify({ ...JSON.parse(owner), pid: 2 ** 30 })
  const file = (n: number, by: string, hash: string) =>
    store.approvals.file({
      ...{ id: `${hash}-${n}`, kind: 'approval', callId: 'c', run: 'r', tool: 't', caller: 'c', hash, request: '{}' },
      ...{ askedAt: n, expiresAt: 900, owner: by },
    })
  const adopt = (hash: string) => store.approvals.adopt({ hash, caller: 'c', owner, now: 500 })
  const many = (count: number, hash: string) => Array.from({ length: count }, (_, n) => file(n + 1, owner, hash))
  await Promise.all([file(0, dead, 'found'), ...many(99, 'found'), file(0, dead, 'behind'), ...many(100, 'behind')])
  expect(await adopt('found')).toMatchObject({ id: 'found-0', owner })
  expect(await adopt('behind')).toBeUndefined()
})
