import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../../core/src/store.ts'
import { prepareDataFolder } from '../../../sandbox/src/system/data-folder.ts'
import { storeSuite } from '../../../testing/src/store-suite.ts'
import { loadSqlite } from './sqlite/database.ts'
import type { OpenStoreOptions } from './sqlite.ts'

let root: string
let folders = 0
const opened: Store[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tool-hub-store-'))
  const store = openStore(join(root, 'empty'))
  await store.check()
  await store.close()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})
afterAll(() => rm(root, { recursive: true, force: true }))

function newFolder(): string {
  return join(root, `data-${++folders}`)
}

function open(folder: string, options?: OpenStoreOptions): Store {
  const store = openStore(folder, options)
  opened.push(store)
  return store
}

storeSuite(
  'a store in a file',
  async ({ now }) => {
    const folder = newFolder()
    prepareDataFolder(folder)
    // Creating each from scratch takes ten times as long.
    await copyFile(join(root, 'empty', 'store.db'), join(folder, 'store.db'))
    return openStore(folder, { now })
  },
  { describe, it, expect },
)

const note = (id: string, text: string) => ({
  id,
  scope: 's',
  text,
  tags: [],
  origin: '{}',
  createdAt: 1,
  updatedAt: 1,
})

describe('openStore', () => {
  it('touches no file before its first use, and then makes them for this user alone', async () => {
    const folder = newFolder()
    const store = open(folder)
    await expect(readdir(folder)).rejects.toMatchObject({ code: 'ENOENT' })
    await store.check()
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    const modes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mode))
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o600, 0o600, 0o600])
  })

  it('has what it was given when it is opened again', async () => {
    const folder = newFolder()
    const first = open(folder)
    await first.memory.add(note('n', 'kept'))
    await first.close()
    await first.close()
    const closed = expect.objectContaining({
      code: 'RECORDS_UNAVAILABLE',
      message: 'The store is closed.',
      fix: { hint: 'Start the hub again.' },
      retryable: false,
    })
    // Used before, and never used.
    expect(() => first.memory.find('n')).toThrow(closed)
    expect(() => first.tokens.list()).toThrow(closed)
    await expect(first.backup(join(folder, 'copy.db'))).rejects.toEqual(closed)
    expect(await open(folder).memory.find('n')).toMatchObject({ text: 'kept' })
  })

  it('closes a file to others that was left open to them', async () => {
    const folder = newFolder()
    await open(folder).check()
    await opened.pop()?.close()
    await chmod(join(folder, 'store.db'), 0o644)
    await open(folder).check()
    expect((await stat(join(folder, 'store.db'))).mode & 0o777).toBe(0o600)
  })

  it('refuses what another user could have written', async () => {
    const shared = newFolder()
    prepareDataFolder(shared)
    await chmod(shared, 0o777)
    const planted = newFolder()
    prepareDataFolder(planted)
    await writeFile(join(planted, 'store.db'), '')
    await chmod(join(planted, 'store.db'), 0o666)
    const linked = newFolder()
    prepareDataFolder(linked)
    await symlink(join(planted, 'store.db'), join(linked, 'store.db'))
    for (const folder of [shared, planted, linked]) {
      await expect(open(folder).check()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    }
  })

  it.each([
    ['a text', 'This is not a database. '.repeat(500)],
    ['a few bytes', 'SQLite form'],
  ])('says what to do about %s in its place', async (_, content) => {
    const folder = newFolder()
    prepareDataFolder(folder)
    await writeFile(join(folder, 'store.db'), content)
    await expect(open(folder).check()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      fix: { hint: expect.stringContaining('backup') },
    })
    expect(await readFile(join(folder, 'store.db'), 'utf8')).toBe(content)
  })

  it('says what to do about a damaged file, whichever way it is met', async () => {
    const folder = newFolder()
    const before = open(folder)
    for (let n = 0; n < 50; n++) await before.memory.add(note(`n${n}`, 'x'.repeat(4000)))
    await before.close()
    await truncate(join(folder, 'store.db'), 200 * 1024)
    const store = open(folder)
    const damaged = expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('damaged') })
    expect(() => store.memory.list({ limit: 100 })).toThrow(damaged)
  })

  it('finds a damaged page when it is checked', async () => {
    const folder = newFolder()
    const before = open(folder)
    await Promise.all(Array.from({ length: 50 }, (_, n) => before.memory.add(note(`n${n}`, 'x'.repeat(4000)))))
    await before.close()
    const file = join(folder, 'store.db')
    const bytes = await readFile(file)
    const middle = Math.floor(bytes.length / 2 / 4096) * 4096
    await writeFile(
      file,
      Buffer.concat([bytes.subarray(0, middle), Buffer.alloc(8192, 0xa5), bytes.subarray(middle + 8192)]),
    )
    const damaged = { code: 'CONFIG_INVALID', message: expect.stringContaining('damaged') }
    await expect(open(folder).check()).rejects.toMatchObject(damaged)
    await opened.pop()?.close()
    await writeFile(file, bytes)
    await open(folder).check()
  })

  it('is not ready any more once damage was met in use', async () => {
    const folder = newFolder()
    const before = open(folder)
    await Promise.all(Array.from({ length: 50 }, (_, n) => before.memory.add(note(`n${n}`, 'x'.repeat(4000)))))
    await before.close()
    const store = open(folder)
    await store.check()
    // What another one writes makes it read the file again.
    await open(folder).grants.put({ id: 'g', tool: 't', body: '{}', createdAt: 1 })
    await truncate(join(folder, 'store.db'), 100 * 1024)
    const damaged = { code: 'CONFIG_INVALID', message: expect.stringContaining('damaged') }
    expect(() => store.memory.list({ limit: 100 })).toThrow(expect.objectContaining(damaged))
    await expect(store.check()).rejects.toMatchObject(damaged)
  })

  it('refuses a NUL, at which SQLite would end the text and mix two keys up', () => {
    const store = open(newFolder())
    for (const use of [
      () => store.keys.claim('a\0b', { argsHash: 'h', owner: 'o', now: 0 }),
      () => store.memory.add(note('n', 'a\0b')),
    ])
      expect(use).toThrow(
        expect.objectContaining({
          code: 'INPUT_SCHEMA_INVALID',
          fix: { hint: 'Leave the character U+0000 out of names, keys and texts.' },
        }),
      )
  })

  it('refuses a folder in the place of its file, and says what to do', async () => {
    const folder = newFolder()
    prepareDataFolder(folder)
    const file = join(folder, 'store.db')
    await mkdir(file)
    await expect(open(folder).check()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${file} is not a regular file.`,
      fix: { hint: `Look who made it; then rm ${file}.` },
    })
  })
})

describe('a store that is locked', () => {
  it('says so after a while, can be read meanwhile, and works again afterwards', async () => {
    const folder = newFolder()
    const store = open(folder, { busyTimeoutMs: 20 })
    await store.check()
    const { DatabaseSync } = loadSqlite()
    const other = new DatabaseSync(join(folder, 'store.db'), { timeout: 0 })
    other.exec('BEGIN EXCLUSIVE')
    const locked = { code: 'CONFLICT', retryable: true, message: expect.stringContaining('locked') }
    await expect(store.check()).rejects.toMatchObject(locked)
    expect(() => store.budgets.reserve([{ account: 'a', limits: {} }], 1)).toThrow(expect.objectContaining(locked))
    expect(await store.budgets.used('a')).toMatchObject({ calls: 0 })
    other.exec('ROLLBACK')
    other.close()
    await store.check()
  })

  it('says so when it is a new one, too', async () => {
    const folder = newFolder()
    prepareDataFolder(folder)
    const { DatabaseSync } = loadSqlite()
    const other = new DatabaseSync(join(folder, 'store.db'), { timeout: 0 })
    other.exec('BEGIN EXCLUSIVE')
    const store = open(folder, { busyTimeoutMs: 20 })
    await expect(store.check()).rejects.toMatchObject({ code: 'CONFLICT' })
    other.exec('ROLLBACK')
    other.close()
    await store.check()
  })
})

describe('a store on a full disk', () => {
  it('says so, keeps all that it acknowledged, and continues once space is free', async () => {
    const folder = newFolder()
    const store = open(folder, { maxPages: 192 })
    const put = (n: number) => store.memory.add(note(`n${n}`, 'x'.repeat(3000)))
    let kept = 0
    const fill = () => {
      for (;;) {
        put(kept)
        kept++
      }
    }
    expect(fill).toThrow(expect.objectContaining({ code: 'RECORDS_UNAVAILABLE', retryable: true }))
    expect(kept).toBeGreaterThan(10)
    const batch = {
      calls: Array.from({ length: 200 }, (_, n) => ({
        callId: `c${n}`,
        run: 'r',
        seq: n,
        tool: 't',
        caller: 'c',
        status: 'ok',
        startedAt: n,
        summary: 'x'.repeat(500),
      })),
      runs: [],
    }
    expect(() => store.calls.put(batch)).toThrow(expect.objectContaining({ code: 'RECORDS_UNAVAILABLE' }))
    expect(await store.calls.run('r')).toBeUndefined()
    expect(await store.memory.list({ limit: 1000 })).toHaveLength(kept)
    for (let n = 0; n < 5; n++) await store.memory.remove(`n${n}`)
    put(kept)
    await store.close()
    expect(await open(folder).memory.list({ limit: 1000 })).toHaveLength(kept - 4)
  })
})

describe('events of a store', () => {
  it('come from another connection as soon as it is looked', async () => {
    const folder = newFolder()
    const [here, there] = [open(folder, { pollMs: 5 }), open(folder)]
    await there.events.append({ topic: 'before', body: '', at: 1 })
    const heard: string[] = []
    await new Promise<void>((resolve) => {
      here.events.watch(({ topic }) => {
        heard.push(topic)
        if (topic === 'last') resolve()
      })
      void there.events.append({ topic: 'theirs', body: '', at: 2 })
      void here.events.append({ topic: 'ours', body: '', at: 3 })
      void there.events.append({ topic: 'last', body: '', at: 4 })
    })
    expect(heard).toEqual(['theirs', 'ours', 'last'])
  })

  it('come all, however many there are at a time', async () => {
    const folder = newFolder()
    const [here, there] = [open(folder, { pollMs: 5 }), open(folder)]
    await there.check()
    const heard: string[] = []
    here.events.watch(({ body }) => heard.push(body))
    const bodies = Array.from({ length: 1_000 }, (_, n) => String(n))
    for (const body of bodies) there.events.append({ topic: 't', body, at: 1 })
    await expect.poll(() => heard.length, { timeout: 100_000 }).toBe(1_000)
    expect(heard).toEqual(bodies)
  })

  it('are looked for only while somebody watches', async () => {
    const store = open(newFolder(), { pollMs: 5 })
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const stops = [store.events.watch(() => {}), store.events.watch(() => {})]
    for (const stop of stops) stop()
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before)
  })
})

describe('a backup', () => {
  it('is a whole copy, taken while writing continues, for this user alone', async () => {
    const store = open(newFolder())
    const put = (n: number) => store.memory.add(note(`n${n}`, 'x'.repeat(2000)))
    for (let n = 0; n < 500; n++) await put(n)
    const copy = newFolder()
    prepareDataFolder(copy)
    let isDone = false
    const backup = store.backup(join(copy, 'store.db')).finally(() => {
      isDone = true
    })
    let written = 500
    while (!isDone) {
      await put(written++)
      await new Promise(setImmediate)
    }
    await backup
    expect(written).toBeGreaterThan(500)
    expect((await stat(join(copy, 'store.db'))).mode & 0o777).toBe(0o600)
    const restored = open(copy)
    const notes = await restored.memory.list({ limit: 10_000 })
    expect(notes.length).toBeGreaterThanOrEqual(500)
    expect(notes.at(0)?.id).toBe(`n${notes.length - 1}`)
    await restored.check()
  })

  it('overwrites nothing, and reports a missing folder', async () => {
    const store = open(newFolder())
    const taken = join(root, 'taken')
    await writeFile(taken, 'mine')
    await expect(store.backup(taken)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `${taken} exists already.`,
      fix: { hint: 'Name a new file for the backup.' },
    })
    expect(await readFile(taken, 'utf8')).toBe('mine')
    const nowhere = join(root, 'no', 'such', 'folder')
    await expect(store.backup(nowhere)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `The folder of ${nowhere} does not exist.`,
      fix: { hint: 'Make the folder first.' },
    })
    await expect(store.backup(join(taken, 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  })
})
