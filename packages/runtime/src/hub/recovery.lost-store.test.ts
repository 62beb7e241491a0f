import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterAll, expect, it } from 'vitest'
import { adoptDataFolder } from '../../../sandbox/src/system/data-folder.ts'
import { startService } from '../../../server/src/start-service.ts'
import { acceptStore } from '../store/sqlite/durability.ts'
import { isStoreLost } from './recovery.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-lost-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('is reported by a service that starts on runs without their store, and by /readyz, until the owner accepts a new one', async () => {
  const [data, runs] = [join(folder, 'data'), join(folder, 'runs')]
  const start = async () => {
    const problems: string[] = []
    const service = await startService({ data, runs }, { port: 0, onProblem: (message) => problems.push(message) })
    await service.hub.call('core/util.time.now', {})
    const ready = await (await fetch(`${service.url}/readyz`)).json()
    await service.close()
    return { problems, ready }
  }
  const fine = { problems: [], ready: { ok: true } }
  const notReady = { ok: false, part: 'store', problem: 'The store was lost: see tool-hub store check.' }
  expect(await isStoreLost(data, runs)).toBe(false)
  expect(await start()).toEqual(fine)
  expect(await start()).toEqual(fine)
  rmSync(data, { recursive: true })
  expect(await start()).toEqual({ problems: [expect.stringContaining('is missing or empty')], ready: notReady })
  expect(await start()).toEqual({ problems: [expect.stringContaining('is new, although')], ready: notReady })
  await acceptStore(data)
  expect(await start()).toEqual(fine)
  rmSync(data, { recursive: true })
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(join(data, 'store.db'), '', { mode: 0o600 })
  adoptDataFolder(data)
  expect(await isStoreLost(data, runs)).toBe(true)
  const lost = { problems: [expect.stringContaining('restore a backup before any call')], ready: notReady }
  expect(await start()).toEqual(lost)
  await acceptStore(data)
  expect(await start()).toEqual(fine)
})

it('is not told of runs that a process has open, which may not have used the store yet', async () => {
  const [data, runs] = [join(folder, 'young'), join(folder, 'young-runs')]
  const hub = createToolHub({ data: join(folder, 'elsewhere'), runs })
  await hub.call('core/util.time.now', {})
  expect(await isStoreLost(data, runs)).toBe(false)
  await hub.close()
  expect(await isStoreLost(data, runs)).toBe(true)
})

it('of an older one in its place is reported by the start and /readyz, until the owner accepts it', async () => {
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
    await expect.poll(() => readiness(third.url), { timeout: 100_000 }).toEqual({ ok: true })
  } finally {
    await third.close()
  }
})
