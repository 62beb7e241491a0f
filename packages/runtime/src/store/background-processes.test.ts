import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bundleModule } from '../../../../test/support/run-module.ts'
import { currentProcess } from '../../../sandbox/src/system/processes.ts'
import { BackgroundProcesses } from './background-processes.ts'

let folder: string
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'tool-hub-processes-')), 'processes')
})
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }))

const process1 = {
  id: 'calm-otter-3f2a',
  run: 'run-1',
  callId: 'c1',
  command: 'npm run dev\n"\u0000\ud800',
  startedAt: '2026-11-15T09:30:00.000Z',
}
const process2 = { ...process1, id: 'wild-fox-0000', startedAt: '2026-11-15T08:30:00.000Z' }
const gone = { ...currentProcess(), started: '1' }

describe('background processes', () => {
  it('of a hub that was killed are reported to one later hub, once, the oldest first', async () => {
    await addAndKill(process1, process2)
    const hubs = Array.from({ length: 5 }, () => new BackgroundProcesses(folder))
    const told = await Promise.all(hubs.map((hub) => hub.takeLost()))
    expect(told.flat()).toHaveLength(2)
    expect(new Set(told.flat())).toEqual(new Set([process2, process1]))
    expect(hubs.map((hub) => hub.lost())).toEqual(told)
    expect(await readdir(folder)).toEqual([])
    expect(await new BackgroundProcesses(folder).takeLost()).toEqual([])
  })

  it('of hubs that live are theirs, and forgotten when they end', async () => {
    const hub = new BackgroundProcesses(folder)
    expect(await hub.takeLost()).toEqual([])
    await Promise.all([hub.add(process1), hub.add(process2)])
    const other = new BackgroundProcesses(folder)
    expect(await other.takeLost()).toEqual([])
    await other.remove(process1.id)
    expect(await readdir(folder)).toHaveLength(2)
    await Promise.all([hub.remove(process1.id), hub.remove(process2.id), hub.remove('unknown')])
    expect(await readdir(folder)).toEqual([])
  })

  it('that end while they are remembered are forgotten, too', async () => {
    const hub = new BackgroundProcesses(folder)
    const adding = hub.add(process1)
    await Promise.all([adding, hub.remove(process1.id)])
    expect(await readdir(folder).catch(() => [])).toEqual([])
  })

  it('are reported the oldest first, with a command that is cut when it is long', async () => {
    await put({ hub: gone, process: process1 })
    await put({ hub: gone, process: process2 })
    expect(await new BackgroundProcesses(folder).takeLost()).toEqual([process2, process1])
    const hub = new BackgroundProcesses(folder)
    await hub.add({ ...process1, command: '\0'.repeat(100_000) })
    const [file] = await readdir(folder)
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{24}\.json$/)])
    expect(JSON.parse(await readFile(join(folder, file!), 'utf8'))).toEqual({
      version: 1,
      hub: currentProcess(),
      process: { ...process1, command: '\0'.repeat(2_000) },
    })
    expect([(await stat(folder)).mode & 0o777, (await stat(join(folder, file!))).mode & 0o777]).toEqual([0o700, 0o600])
  })

  it('are reported up to 32 KiB a file, with names up to their limits', async () => {
    const whole = { ...process1, id: 'a'.repeat(100), callId: 'c'.repeat(200), command: 'x'.repeat(2_000) }
    const padded = (bytes: number) => {
      const text = JSON.stringify({ version: 1, hub: gone, process: whole })
      return `${text}${' '.repeat(bytes - Buffer.byteLength(text))}`
    }
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, name()), padded(32_769), { mode: 0o600 })
    expect(await new BackgroundProcesses(folder).takeLost()).toEqual([])
    await writeFile(join(folder, name()), padded(32_768), { mode: 0o600 })
    expect(await new BackgroundProcesses(folder).takeLost()).toEqual([whole])
  })

  it('are none that somebody else put there', async () => {
    const evil = { ...process1, run: '../../etc' }
    await put({ hub: gone, process: evil })
    for (const id of ['../x', '/x', 'x/', '', 'a'.repeat(101)]) await put({ hub: gone, process: { ...process1, id } })
    await put({ hub: gone, process: { ...process1, callId: 'c'.repeat(201) } })
    await put({ hub: gone, process: { ...process1, command: 'x'.repeat(2_001) } })
    await put({ hub: gone, process: { ...process1, startedAt: 'yesterday' } })
    await put({ hub: { ...gone, started: '1'.repeat(33) }, process: process1 })
    await put({ version: 2, hub: gone, process: process1 })
    await put({ hub: gone, process: process1 }, `x${name()}`)
    await put({ hub: gone, process: process1 }, `${name()}x`)
    await put({ hub: gone, process: { ...process1, command: 5 } })
    await put({ hub: gone, process: { ...process1, more: 1 } })
    await put({ hub: { pid: -1, space: gone.space }, process: process1 })
    await put({ hub: { ...gone, space: 'another machine' }, process: process1 })
    await put({ hub: gone, process: process1 }, 'notes.json')
    await put({ hub: gone, process: process1 }, name(), 0o666)
    for (const text of ['', '{', 'null', '[]', '"x"', `"${'x'.repeat(100_000)}"`, '{"__proto__":{}}']) {
      await writeFile(join(folder, name()), text)
    }
    await symlink(join(folder, 'notes.json'), join(folder, name()))
    await mkdir(join(folder, name()))
    const before = await readdir(folder)
    expect(await new BackgroundProcesses(folder).takeLost()).toEqual([])
    expect(await readdir(folder)).toEqual(before)
  })

  it('are not written where others can read them', async () => {
    await mkdir(folder, { mode: 0o700 })
    await chmod(folder, 0o777)
    await expect(new BackgroundProcesses(folder).add(process1)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await readdir(folder)).toEqual([])
  })
})

let files = 0

function name(): string {
  return `${String(++files).padStart(24, '0')}.json`
}

/** Puts a file there as a hub would. */
async function put(content: object, file = name(), mode = 0o600): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, file), JSON.stringify({ version: 1, ...content }))
  await chmod(join(folder, file), mode)
}

/** A hub that starts processes and is killed. */
async function addAndKill(...processes: readonly object[]): Promise<void> {
  const module = pathToFileURL(await bundleModule('packages/runtime/src/store/background-processes.ts'))
  const script = `
    import { BackgroundProcesses } from ${JSON.stringify(module)}
    const hub = new BackgroundProcesses(${JSON.stringify(folder)})
    for (const process of ${JSON.stringify(processes)}) await hub.add(process)
    console.log('added')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  expect(await new BackgroundProcesses(folder).takeLost()).toEqual([])
  child.kill('SIGKILL')
  await once(child, 'exit')
}
