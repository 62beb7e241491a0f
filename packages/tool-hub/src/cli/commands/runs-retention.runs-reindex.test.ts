import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'
import { ended } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { RunRecords } from '../../../../runtime/src/records/log/run-records.ts'

const folder = cliFolder()
afterAll(folder.remove)

describe('tool-hub runs reindex', () => {
  it('builds the index from the records alone, without what has been deleted', async () => {
    const root = join(folder.path, 'runs')
    for (const run of ['kept-run', 'gone-run']) {
      const records = RunRecords.open(root, run, { durability: 'behind', clock: systemClock })
      records.append(ended(`c-${run}`, { caller: 'ada', status: 'error' }))
      await records.close()
    }
    expect(await folder.run(['runs', 'reindex', '--json'])).toMatchObject({ code: 0, stdout: '{"runs":2,"calls":2}\n' })
    rmSync(join(root, 'gone-run'), { recursive: true })
    const { code, stderr } = await folder.run(['runs', 'reindex'])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^Indexed 1 run of .*, with 1 line of calls\.\n$/)
    const store = openStore(join(folder.path, '.tool-hub'))
    expect(await store.calls.runs({ limit: 10 })).toMatchObject([{ run: 'kept-run', calls: 1, failures: 1 }])
    await store.close()
  })
})
