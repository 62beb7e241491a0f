import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { DiskUse } from './health.ts'

const folder = temporaryFolder()

it('says what store and records take, and what is left of their disks', async () => {
  const folders = { data: join(folder, 'data'), runs: join(folder, 'runs') }
  const clock = fakeClock()
  const use = new DiskUse({ folders, clock })
  await eventually(async () => expect(await use.describe()).toEqual({ storeBytes: 0, recordsBytes: 0, disks: [] }))
  mkdirSync(folders.data)
  mkdirSync(join(folders.runs, 'run-1'), { recursive: true })
  writeFileSync(join(folders.data, 'store.db'), 'x'.repeat(300))
  writeFileSync(join(folders.data, 'store.db-wal'), 'x'.repeat(20))
  writeFileSync(join(folders.runs, 'run-1', 'events.jsonl'), 'x'.repeat(4_000))
  await clock.advance(300_001)
  await eventually(async () => expect((await use.describe()).recordsBytes).toBe(4_000))
  const { storeBytes, disks } = await use.describe()
  expect([storeBytes, disks.map((disk) => disk.folder)]).toEqual([320, ['data', 'runs']])
  for (const { freeBytes, sizeBytes } of disks) expect(freeBytes > 0 && freeBytes <= sizeBytes).toBe(true)
  await use.close()
})

it('measures the records again only after five minutes', async () => {
  const folders = { data: join(folder, 'data'), runs: join(folder, 'again') }
  const clock = fakeClock()
  const use = new DiskUse({ folders, clock })
  mkdirSync(folders.runs)
  await eventually(async () => expect((await use.describe()).recordsBytes).toBe(0))
  writeFileSync(join(folders.runs, 'file'), 'x'.repeat(10))
  await clock.advance(299_000)
  expect((await use.describe()).recordsBytes).toBe(0)
  await clock.advance(2_000)
  await eventually(async () => expect((await use.describe()).recordsBytes).toBe(10))
  await use.close()
})
