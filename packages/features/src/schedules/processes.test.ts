import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { FeatureHost } from '@tool-hub/core/feature'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { soon } from '../../../../test/support/soon.ts'
import { systemClock } from '../../../core/src/context.ts'
import { createSchedules } from './create-schedules.ts'

const LOADER = pathToFileURL(join(import.meta.dirname, '../../../../test/support/load-typescript.mjs')).href
const at = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href)

let folder: string
const children: ChildProcess[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-schedules-'))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** A process that fires, and says what; a whole hub around it would only take longer to load. */
function startFiring(onLine: (line: string, child: ChildProcess) => void): Promise<void> {
  const source = `
    import { writeSync } from 'node:fs'
    import { openStore } from ${at('../../../library/src/stores.ts')}
    import { createSchedules } from ${at('create-schedules.ts')}
    import { systemClock as clock } from ${at('../../../core/src/context.ts')}
    const store = openStore(${JSON.stringify(folder)})
    const say = (word) => writeSync(1, word + '\\n')
    const call = (tool) => {
      say(tool)
      return tool === 'hang' ? new Promise(() => {}) : Promise.resolve({ ok: true, summary: 'done', meta: {} })
    }
    const host = {
      store, clock, warn: say, principalNow: (known) => known, recordChange: async () => {},
      as: () => ({ call, endRun: async () => {} }),
      emitChange: (feature, subject) => store.events.append({ topic: 'feature', body: JSON.stringify({ feature, subject }), at: 0 }),
    }
    await createSchedules({}, host).service.start()
    setInterval(() => {}, 1000)
    say('ready')`
  const child = spawn(process.execPath, ['--import', LOADER, '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return new Promise((ready) => {
    createInterface({ input: child.stdout! }).on('line', (line) => (line === 'ready' ? ready() : onLine(line, child)))
  })
}

it('two processes fire each time once, and a third sees what a killed one had begun as interrupted', async () => {
  const store = openStore(folder)
  const host = {
    ...{ store, clock: systemClock, principalNow: (known: unknown) => known, recordChange: async () => {} },
    as: () => ({ call: async () => ({ ok: true, summary: '', meta: {} }), endRun: async () => {} }),
    emitChange: (feature: string, subject: string) =>
      store.events.append({ topic: 'feature', body: JSON.stringify({ feature, subject }), at: 0 }),
  }
  const { service, close } = createSchedules({}, host as unknown as FeatureHost)
  const fired: string[] = []
  let whoHangs: ChildProcess | undefined
  const onLine = (line: string, child: ChildProcess) => {
    fired.push(line)
    if (line === 'hang') whoHangs = child
  }
  await Promise.all([startFiring(onLine), startFiring(onLine)])
  const names = Array.from({ length: 40 }, (_, n) => `t${n}`)
  const addSoon = (name: string) => soon((at) => service.add({ name, when: { at }, calls: [{ tool: name }] }))
  for (const name of names) await addSoon(name)
  await expect.poll(() => fired.length).toBeGreaterThanOrEqual(40)
  await addSoon('hang')
  await expect.poll(() => whoHangs, { interval: 10 }).toBeDefined()
  expect(fired.sort()).toEqual([...names, 'hang'].sort())
  const ended = once(whoHangs!, 'exit')
  whoHangs!.kill('SIGKILL')
  await ended
  await service.start()
  const { runs } = await service.runs('hang')
  expect(runs).toMatchObject([
    { status: 'interrupted', error: expect.stringContaining('The process ended during the run') },
  ])
  // Its effect is unknown, so that it is not repeated.
  expect(await service.find('hang')).toMatchObject({ enabled: false, runs: 1, lastStatus: 'interrupted' })
  await expect.poll(async () => (await service.runs('t39')).runs[0]?.status).toBe('ok')
  await close()
  await store.close()
})
