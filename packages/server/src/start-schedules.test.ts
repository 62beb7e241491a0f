import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { expect, it } from 'vitest'
import { soon } from '../../../test/support/soon.ts'
import { startService } from './start-service.ts'

it('a service runs schedules as long as it lives, and takes away those that its config has no more', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tool-hub-serve-schedules-'))
  const options = { runs: join(folder, 'runs'), data: join(folder, 'data') }
  const calls = [{ tool: 'core/util.time.now' }]
  const entries = { hourly: { when: { every: '1h' }, calls } }
  const first = await startService({ ...options, schedules: { entries } }, { port: 0 })
  const { schedules } = first.hub
  await soon((at) => schedules.add({ name: 'soon', when: { at }, calls }))
  await expect.poll(async () => (await schedules.find('soon')).lastStatus).toBe('ok')
  expect((await schedules.list()).map(({ name }) => name)).toEqual(['config:hourly', 'soon'])
  expect(await schedules.status()).toMatchObject({ isTickingHere: true, problems: [] })
  await first.close()
  const second = await startService(options, { port: 0 })
  await expect.poll(async () => (await second.hub.schedules.list()).map(({ name }) => name)).toEqual(['soon'])
  await second.close()
  const store = openStore(options.data)
  const now = Date.now()
  expect(await store.slots.lease('schedules:ticking', { owner: 'me', now, until: now })).toBe(true)
  await store.close()
  await rm(folder, { recursive: true, force: true })
})
