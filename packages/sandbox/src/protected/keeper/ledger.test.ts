import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { prepareDataFolder } from '../../system/data-folder.ts'
import { currentProcess } from '../../system/processes.ts'
import { forEachUnfinished, Ledger, type UnfinishedCommands } from './ledger.ts'

let data: string
let folder: string

beforeEach(() => {
  data = realpathSync(mkdtempSync(join(tmpdir(), 'ledger-')))
  onTestFinished(() => rmSync(data, { recursive: true }))
  folder = join(data, 'commands')
})

const OPTIONS = { roots: ['/r', '/read'], exact: ['/r/exact'], hidden: ['/r/hidden'] }
const READ_ONLY = ['/read']
const PLACES = [
  { path: '/r/.claude', link: 'shared', isGit: false },
  { path: '/r/.git/config', isGit: true },
]
const BEFORE = new Map(PLACES.map((place) => [place.path, place]))
const NAME = `${'0a'.repeat(12)}.json`
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** The process of a hub that has ended. */
const DEAD = { ...currentProcess(), pid: spawnSync(process.execPath, ['--version']).pid }

function leave(content: object | string, name = NAME): string {
  prepareDataFolder(data)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  writeFileSync(join(folder, name), text, { mode: 0o600 })
  return join(folder, name)
}

const left = () => ({ version: 1, hub: DEAD, ...OPTIONS, readOnly: READ_ONLY, before: PLACES })

async function unfinished(): Promise<UnfinishedCommands[]> {
  const found: UnfinishedCommands[] = []
  await forEachUnfinished(folder, async (it) => void found.push(it))
  return found
}

describe('while commands run', () => {
  it('more than the next hub would read is refused, so that no command starts', () => {
    const many = new Map(
      Array.from({ length: 90_000 }, (_, i) => [`${i}`, { path: `/r/${'x'.repeat(200)}${i}`, isGit: true }]),
    )
    expect(() => new Ledger(folder, OPTIONS).write(many)).toThrow(/90,000 protected places/)
    expect(readdirSync(folder)).toEqual([])
  })

  it('what was there before is on disk, for this user alone, and gone when they have ended', () => {
    const ledger = new Ledger(folder, OPTIONS)
    ledger.write(new Map())
    ledger.write(BEFORE, { readOnly: READ_ONLY })
    const [name, ...more] = readdirSync(folder)
    expect([more, modeOf(folder), modeOf(join(folder, name!))]).toEqual([[], '700', '600'])
    expect(name).toMatch(/^[0-9a-f]{24}\.json$/)
    expect(JSON.parse(readFileSync(join(folder, name!), 'utf8'))).toEqual({
      ...{ version: 1, hub: currentProcess(), ...OPTIONS },
      readOnly: READ_ONLY,
      before: PLACES,
    })
    ledger.clear()
    ledger.clear()
    expect(readdirSync(folder)).toEqual([])
  })

  it('nothing is noted in a folder that others can write to', () => {
    prepareDataFolder(data)
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    expect(() => new Ledger(folder, OPTIONS).write(BEFORE)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('what a hub has left that no longer exists', () => {
  it('is handed out once, as it was noted', async () => {
    const path = leave(left())
    expect(await unfinished()).toEqual([expect.objectContaining({ ...OPTIONS, readOnly: READ_ONLY, before: BEFORE })])
    expect([existsSync(path), await unfinished()]).toEqual([false, []])
  })

  it('stays when it could not be dealt with', async () => {
    const path = leave(left())
    const fail = () => Promise.reject(new Error('failed'))
    await expect(forEachUnfinished(folder, fail)).rejects.toThrow('failed')
    expect(existsSync(path)).toBe(true)
  })

  it('is empty if the folder does not exist, where the hub lives, and under other names', async () => {
    expect(await unfinished()).toEqual([])
    leave({ ...left(), hub: currentProcess() })
    const names = [`${NAME}.draft`, `x${NAME}`, NAME.slice(1), 'notes.json']
    for (const name of names) leave(left(), name)
    expect(await unfinished()).toEqual([])
    expect(readdirSync(folder).sort()).toEqual([NAME, ...names].sort())
  })

  it.each([
    ['half a file', JSON.stringify({ version: 1 }).slice(0, 8)],
    ['another version', { ...left(), version: 2 }],
    ['no roots', { ...left(), roots: undefined }],
    ['no exact places', { ...left(), exact: undefined }],
    ['no hidden places', { ...left(), hidden: undefined }],
    ['no places', { ...left(), before: undefined }],
    ['a place without a path', { ...left(), before: [{ isGit: true }] }],
    ['a process that is none', { ...left(), hub: { pid: 0, space: 'x' } }],
    ['a field that nobody knows', { ...left(), more: true }],
  ])('is removed with a warning when it is damaged: %s', async (_, content) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    const path = leave(content)
    expect([await unfinished(), existsSync(path)]).toEqual([[], false])
    expect(warned).toHaveBeenCalledWith(expect.stringContaining(`${path} cannot be read`), 'ToolHubWarning')
  })

  it('may be gone meanwhile, because another hub was quicker', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    leave(left())
    leave(left(), `${'0b'.repeat(12)}.json`)
    const handled: string[][] = []
    await forEachUnfinished(folder, async () => {
      handled.push(readdirSync(folder))
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
    })
    expect([handled.length, warned.mock.calls]).toEqual([1, []])
  })

  it('has sixteen mebibytes at most', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    leave(JSON.stringify(left()).padStart(16 * 1024 ** 2))
    expect(await unfinished()).toHaveLength(1)
    const path = leave(JSON.stringify(left()).padStart(16 * 1024 ** 2 + 1))
    expect([await unfinished(), existsSync(path), warned.mock.calls.length]).toEqual([[], false, 1])
  })

  it('is not believed in a folder that others can write to', async () => {
    const path = leave(left())
    chmodSync(folder, 0o777)
    await expect(unfinished()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(existsSync(path)).toBe(true)
  })
})
