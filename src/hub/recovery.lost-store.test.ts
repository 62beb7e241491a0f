import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startService } from '../server/start-service.ts'
import { acceptStore } from '../store/sqlite/durability.ts'
import { adoptDataFolder } from '../system/data-folder.ts'
import { isStoreLost } from './recovery.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-lost-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('is told by a service that starts on runs without their store, or with an empty one', async () => {
  const [data, runs] = [join(folder, 'data'), join(folder, 'runs')]
  const start = async () => {
    const problems: string[] = []
    const service = await startService({ data, runs }, { port: 0, onProblem: (message) => problems.push(message) })
    await service.hub.call('core/util.time.now', {})
    await service.close()
    return problems
  }
  expect(await isStoreLost(data, runs)).toBe(false)
  expect(await start()).toEqual([])
  expect(await start()).toEqual([])
  rmSync(data, { recursive: true })
  expect(await start()).toEqual([expect.stringContaining('is missing or empty')])
  rmSync(data, { recursive: true })
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(join(data, 'store.db'), '', { mode: 0o600 })
  adoptDataFolder(data)
  expect(await isStoreLost(data, runs)).toBe(true)
  expect(await start()).toEqual([expect.stringContaining('restore a backup before any call')])
  expect(await start()).toEqual([])
})

it('of an older one in its place is told by the start and /readyz, until the owner accepts it', async () => {
  const [data, runs] = [join(folder, 'older'), join(folder, 'older-runs')]
  const problems: string[] = []
  const start = () => startService({ data, runs }, { port: 0, onProblem: (message) => problems.push(message) })
  const readiness = async (url: string) => (await fetch(`${url}/readyz`)).json()
  const [store, copy] = [join(data, 'store.db'), join(folder, 'copy.db')]
  const first = await start()
  await first.hub.call('core/util.time.now', {})
  await first.close()
  copyFileSync(store, copy)
  const second = await start()
  await second.hub.call('core/util.time.now', {})
  expect(await readiness(second.url)).toEqual({ ok: true })
  await second.close()
  expect(problems).toEqual([])

  copyFileSync(copy, store)
  const third = await start()
  try {
    expect(problems).toEqual([
      expect.stringMatching(/is older than it was.*Tokens revoked since.*tool-hub store adopt/),
    ])
    expect(await readiness(third.url)).toMatchObject({
      ok: false,
      part: 'store',
      problem: expect.stringContaining('older than it was'),
    })
    await acceptStore(data)
    await expect.poll(() => readiness(third.url), { timeout: 60_000 }).toEqual({ ok: true })
  } finally {
    await third.close()
  }
})
