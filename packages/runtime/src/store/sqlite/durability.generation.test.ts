import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, expect, it } from 'vitest'
import type { Store } from '../../../../core/src/store.ts'
import { adoptDataFolder } from '../../../../sandbox/src/system/data-folder.ts'
import { loadSqlite } from './database.ts'
import { acceptStore, isOlderStore } from './durability.ts'

const root = mkdtempSync(join(tmpdir(), 'tool-hub-generation-'))
const opened: Store[] = []
let folders = 0
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const newFolder = () => join(root, `data-${++folders}`)
const grant = (id: string) => ({ id, tool: 't', body: '{}', createdAt: 1 })

function open(folder: string): Store {
  const store = openStore(folder, { markMs: 0 })
  opened.push(store)
  return store
}

/** Writes a grant, and resolves when the file beside the store says so. */
async function write(store: Store, folder: string, id: string): Promise<void> {
  const mark = () => (existsSync(join(folder, 'store.generation')) ? markOf(folder) : '')
  const before = mark()
  await store.grants.put(grant(id))
  await expect.poll(mark, { timeout: 100_000 }).not.toBe(before)
}

const markOf = (folder: string) => readFileSync(join(folder, 'store.generation'), 'utf8')

/** A data folder as a process leaves it that is killed now. */
function killed(folder: string): string {
  const copy = newFolder()
  cpSync(folder, copy, { recursive: true })
  rmSync(join(copy, 'store.db-shm'), { force: true })
  adoptDataFolder(copy)
  return copy
}

/** Whether a check finds the store older than it was; also when it is looked at again and used meanwhile. */
async function isOlder(folder: string): Promise<boolean> {
  const found: boolean[] = []
  for (const id of ['x', 'y']) {
    const store = openStore(folder, { markMs: 0 })
    found.push(
      await store.check().then(
        () => false,
        (error) => isOlderStore(error) || Promise.reject(error),
      ),
    )
    await store.grants.put(grant(id))
    await store.close()
  }
  expect(found[1]).toBe(found[0])
  return found[0]!
}

it('finds an older copy of the store in its place, until the owner accepts it', async () => {
  const folder = newFolder()
  const first = open(folder)
  await first.grants.put(grant('a'))
  await first.backup(join(root, 'backup.db'))
  await first.close()
  const second = open(folder)
  await second.grants.remove('a')
  await second.close()
  expect(await isOlder(folder)).toBe(false)

  cpSync(join(root, 'backup.db'), join(folder, 'store.db'))
  expect(await isOlder(folder)).toBe(true)
  await expect(open(folder).check()).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('Tokens revoked since then are valid again'),
    fix: { hint: expect.stringContaining('tool-hub store adopt') },
  })
  await acceptStore(folder)
  expect(await isOlder(folder)).toBe(false)
})

it('finds that the log of a killed process was removed or damaged, and nothing when it was not', async () => {
  const folder = newFolder()
  const store = open(folder)
  await write(store, folder, 'a')
  await write(store, folder, 'b')
  const [left, removed, damaged, cut] = [killed(folder), killed(folder), killed(folder), killed(folder)]
  expect(await isOlder(left)).toBe(false)
  rmSync(join(removed, 'store.db-wal'))
  expect(await isOlder(removed)).toBe(true)
  const log = readFileSync(join(damaged, 'store.db-wal'))
  writeFileSync(join(damaged, 'store.db-wal'), log.fill(0x5a, 0, 4_096))
  expect(await isOlder(damaged)).toBe(true)
  truncateSync(join(cut, 'store.db-wal'), log.length / 2)
  expect(await isOlder(cut)).toBe(true)
})

it('finds a store that was lost and made anew, and a mark that is not a number', async () => {
  const folder = newFolder()
  const store = open(folder)
  await store.grants.put(grant('a'))
  await store.close()
  const copy = killed(folder)
  rmSync(join(copy, 'store.db'))
  expect(await isOlder(copy)).toBe(true)
  writeFileSync(join(folder, 'store.generation'), '\0\0\0', { mode: 0o600 })
  expect(await isOlder(folder)).toBe(true)
})

it.each([
  ['15 digits', '000000000000001\n', false],
  ['16 digits', '0000000000000001\n', true],
  ['no end of line', '1', true],
  ['a second line', '1\n\n', true],
  ['something before', ' 1\n', true],
  ['something else', 'x\n', true],
  ['nothing', '', true],
])('takes a mark with %s for damaged or not', async (_, mark, older) => {
  const folder = newFolder()
  const store = open(folder)
  await store.grants.put(grant('a'))
  await store.close()
  writeFileSync(join(folder, 'store.generation'), mark, { mode: 0o600 })
  expect(await isOlder(folder)).toBe(older)
})

it('says how old the store is, and since when it was used', async () => {
  const folder = newFolder()
  await open(folder).check()
  const check = async (mark: string) => {
    writeFileSync(join(folder, 'store.generation'), mark, { mode: 0o600 })
    return await open(folder).check().catch(String)
  }
  expect(await check('86400000\n')).toContain(
    'is older than it was: it has nothing of what was written, but it was last used at 1970-01-02T00:00:00.000Z.',
  )
  expect(await check('x')).toContain('but store.generation beside it is damaged.')
  rmSync(join(folder, 'store.generation'))
  await write(open(folder), folder, 'a')
  const own = new Date(Number(markOf(folder))).toISOString()
  expect(await check('999999999999999\n')).toContain(`it has nothing written after ${own}, but`)
})

it('is for this user alone, and leaves no draft behind', async () => {
  const folder = newFolder()
  await write(open(folder), folder, 'a')
  await Promise.all(opened.splice(0).map((store) => store.close()))
  expect(statSync(join(folder, 'store.generation')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder).filter((name) => name.startsWith('store.generation'))).toEqual(['store.generation'])
})

it('grows also where the clock is behind it', async () => {
  const folder = newFolder()
  await open(folder).check()
  const ahead = Date.now() + 1_000_000_000
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(folder, 'store.db'), { timeout: 10_000 })
  database.exec(`INSERT INTO counters (name, value) VALUES ('generation', ${ahead})`)
  database.close()
  writeFileSync(join(folder, 'store.generation'), `${ahead}\n`, { mode: 0o600 })
  await write(open(folder), folder, 'a')
  expect(Number(markOf(folder))).toBe(ahead + 1)
})

it('is advanced by two processes on one store, in any order', async () => {
  const folder = newFolder()
  const [a, b] = [open(folder), open(folder)]
  for (const id of ['1', '2', '3']) await Promise.all([write(a, folder, `a${id}`), b.grants.put(grant(`b${id}`))])
  await Promise.all([a.check(), b.check()])
  await a.close()
  await b.close()
  expect(await isOlder(folder)).toBe(false)
})

it.each(['store.db', 'store.db-wal'])(
  'a check of an open store finds that %s was removed or replaced',
  async (name) => {
    const folder = newFolder()
    const store = open(folder)
    await store.grants.put(grant('a'))
    await store.check()
    const [file, aside] = [join(folder, name), join(folder, 'aside')]
    const gone = { code: 'CONFIG_INVALID', message: expect.stringContaining('removed or replaced') }
    renameSync(file, aside)
    await expect(store.check()).rejects.toMatchObject(gone)
    cpSync(aside, file)
    await expect(store.check()).rejects.toMatchObject(gone)
    renameSync(aside, file)
    await store.check()
  },
)
