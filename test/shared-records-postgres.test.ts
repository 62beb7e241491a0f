import { join } from 'node:path'
import { openPostgresStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSharedCheck } from '../packages/cluster/src/records/verify-shared.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'
import { addLine, longText, sharedHub } from './support/shared-hub.ts'
import { sharedText } from './support/shared-records.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())

it('shares records over PostgreSQL: a stop of the server refuses calls and loses nothing, and the run moves', async () => {
  const base = temporaryFolder('shared-postgres')
  const open = () => openPostgresStore(server.url, { schema: 'shared_records' })
  const [first, second] = [open(), open()]
  const one = sharedHub(join(base, 'one'), first, { run: 'own-1' })
  const two = sharedHub(join(base, 'two'), second, { run: 'own-2' })
  const call = (hub: typeof one, line: string) => hub.call(addLine, { path: 'a.txt', line }, { run: 'r' })
  expect(await call(one, 'one')).toMatchObject({ ok: true })
  const { artifacts } = await one.call(longText, { length: 3_000_000 }, { run: 'r' })
  await server.stop('immediate')
  expect(await call(one, 'two')).toMatchObject({ ok: false, error: { retryable: true } })
  await server.start()
  await expect.poll(async () => (await call(one, 'three')).ok, { timeout: 100_000 }).toBe(true)
  await one.endRun('r')
  expect(await two.artifact(artifacts[0]!.ref, { run: 'r' })).toHaveLength(artifacts[0]!.bytes)
  expect(await call(two, 'four')).toMatchObject({ ok: true })
  await two.endRun('r')
  const check = await openSharedCheck(second, { root: join(base, 'two/runs') })
  expect(await check.verify('r')).toMatchObject({ state: 'intact', problems: [] })
  const acknowledged = (await sharedText(second, 'r')).split('\n').filter((line) => line.includes('"status":"ok"'))
  expect(acknowledged.length).toBeGreaterThanOrEqual(4)
  await Promise.all([one.close(), two.close()])
  await Promise.all([first.close(), second.close()])
})
