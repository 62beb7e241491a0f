import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startService } from '../serve/start-service.ts'
import { isStoreLost } from './lost-store.ts'

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
  expect(await isStoreLost(data, runs)).toBe(true)
  expect(await start()).toEqual([expect.stringContaining('put a backup in its place')])
  expect(await start()).toEqual([])
})
