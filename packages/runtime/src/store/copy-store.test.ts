import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseOptions } from '@tool-hub/core'
import { copyTables, openNewFile, openSource, openStore, openStoreOf, openTarget } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ALL_TABLES } from '../../../../test/support/all-tables.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { expectToContinue, fillStore } from '../../../../test/support/fill-store.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { BlockBudgets } from '../../../cluster/src/postgres/block-budgets.ts'
import { type CopyReport, copiedTables, type StoreCopyOptions } from './copy-store.ts'
import { closeDatabase, openDatabase } from './sqlite/database.ts'
import { SqliteDriver } from './sqlite/driver.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tool-hub-copy-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** A data folder whose store has rows in every table. */
async function filledFolder(name = 'source'): Promise<string> {
  const folder = join(root, name)
  const store = openStore(folder)
  await fillStore(store)
  await store.close()
  const path = join(folder, 'store.db')
  const driver = new SqliteDriver({
    open: () => openDatabase(path, { tables: ALL_TABLES, busyTimeoutMs: 5_000 }),
    close: closeDatabase,
  })
  // Never closed: what it holds stays in the store.
  await new BlockBudgets(driver, { reportMs: 3_600_000 }).reserve([{ account: 'run:b', limits: { calls: 1000 } }], 1)
  await driver.close()
  return folder
}

type Place = string | DatabaseOptions

async function copy(from: Place, to: Place, options?: StoreCopyOptions): Promise<CopyReport> {
  const source = await openSource(from)
  try {
    const target = await openTarget(to)
    try {
      return await copyTables(source, target, options)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

describe('a copy of a store', () => {
  it('has all rows of every table', async () => {
    const report = await copy(await filledFolder(), join(root, 'target'))
    expect(Object.keys(report.tables).sort()).toEqual(copiedTables(ALL_TABLES.features).map(({ name }) => name))
    expect(report.tables).toMatchObject({ calls: 250, tokens: 1 })
    const back = await copy(join(root, 'target'), join(root, 'back'))
    expect(back).toEqual(report)
  })

  it('continues where the store was: searches, counters, keys and answers', async () => {
    await copy(await filledFolder(), join(root, 'target'))
    await expectToContinue(openStore(join(root, 'target')))
  })

  it('is as the source was at one moment, while others write to it', async () => {
    const folder = await filledFolder()
    const others = openStore(folder)
    let written = 0
    const onProgress = () => {
      others.tokens.add({
        id: `late-${written}`,
        name: `late-${written}`,
        hash: `late-${written}`,
        body: '{}',
        createdAt: 1,
      })
      written++
    }
    const report = await copy(folder, join(root, 'target'), { onProgress })
    await others.close()
    expect(written).toBeGreaterThan(5)
    expect(report.tables.tokens).toBe(1)
  })

  it('refuses a store that is not empty, and leaves it as it is', async () => {
    const [source, target] = [await filledFolder(), await filledFolder('target')]
    await expect(copy(source, target)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/is not empty: it has rows in \w+\.$/),
    })
    const same = await copy(target, join(root, 'again'))
    expect(same.tables.calls).toBe(250)
  })

  it('leaves nothing behind when it is aborted', async () => {
    const stop = new AbortController()
    const onProgress = ({ table }: { table: string }) => {
      if (table === 'calls') stop.abort(new Error('Enough.'))
    }
    const target = join(root, 'target')
    await expect(copy(await filledFolder(), target, { onProgress, signal: stop.signal })).rejects.toThrow('Enough.')
    expect(await readdir(target)).toEqual(['created.json'])
    const report = await copy(join(root, 'source'), target)
    expect(report.tables.calls).toBe(250)
  })

  it('needs a source that is there', async () => {
    await expect(openSource(join(root, 'nowhere'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await writeFile(join(root, 'notes.txt'), 'no store')
    await expect(openSource(join(root, 'notes.txt'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('no store'),
    })
    await expect(openTarget(join(root, 'notes.txt'))).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('can be a single file, from which a store is restored', async () => {
    const file = join(root, 'backup.db')
    const source = await openSource(await filledFolder())
    const target = await openNewFile(file)
    const report = await copyTables(source, target)
    await Promise.all([source.close(), target.close()])
    expect((await readdir(root)).filter((name) => name.startsWith('backup'))).toEqual(['backup.db'])
    await expect(openNewFile(file)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await copy(file, join(root, 'restored'))).toEqual(report)
  })
})

describe('a copy between SQLite and PostgreSQL', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  let schemas = 0
  const database = (): DatabaseOptions => ({ url: server.url, schema: `copy_${++schemas}` })

  it('has all rows of every table, in both directions, and continues', async () => {
    const folder = await filledFolder()
    const there = database()
    const report = await copy(folder, there)
    expect(Object.keys(report.tables).sort()).toEqual(copiedTables(ALL_TABLES.features).map(({ name }) => name))
    const back = join(root, 'back')
    expect(await copy(there, back)).toEqual(report)
    expect(await copy(back, database())).toEqual(report)
    await expectToContinue(openStore(back))
    await expectToContinue(openStoreOf({ database: there }))
  })

  it('copies a store that PostgreSQL has filled, with what its processes hold', async () => {
    const there = database()
    const store = openStoreOf({ database: there })
    await fillStore(store)
    await store.budgets.reserve([{ account: 'run:b', limits: { calls: 1000 } }], 1)
    // What a process uses is reported to the database a little later.
    const other = openStoreOf({ database: there })
    await eventually(async () => expect(await other.budgets.used('run:a')).toMatchObject({ calls: 1 }))
    await other.close()
    const report = await copy(there, join(root, 'target'))
    await store.close()
    expect(Object.keys(report.tables).sort()).toEqual(copiedTables(ALL_TABLES.features).map(({ name }) => name))
    await expectToContinue(openStore(join(root, 'target')))
  })

  it('copies every table that PostgreSQL has', async () => {
    const there = database()
    const store = openStoreOf({ database: there })
    await store.check()
    await store.close()
    const tables = server
      .sql(`SELECT tablename FROM pg_tables WHERE schemaname = '${there.schema}' ORDER BY 1`)
      .split('\n')
      .map((line) => line.trim())
    for (const { name } of copiedTables(ALL_TABLES.features)) expect(tables).toContain(name)
    const others = tables.filter(
      (table) => table !== '' && !copiedTables(ALL_TABLES.features).some(({ name }) => name === table),
    )
    expect(others).toEqual(['memory_words', 'store_version'])
  })

  it('changes nothing in PostgreSQL when it is aborted, and refuses a database with rows', async () => {
    const there = database()
    const stop = new AbortController()
    const onProgress = ({ table }: { table: string }) => {
      if (table === 'calls') stop.abort(new Error('Enough.'))
    }
    const folder = await filledFolder()
    await expect(copy(folder, there, { onProgress, signal: stop.signal })).rejects.toThrow('Enough.')
    expect((await copy(folder, there)).tables.calls).toBe(250)
    await expect(copy(folder, there)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('is as PostgreSQL was at one moment, while others write to it', async () => {
    const there = database()
    const store = openStoreOf({ database: there })
    await fillStore(store)
    const writes: Promise<unknown>[] = []
    const onProgress = () => {
      const id = `late-${writes.length}`
      writes.push(Promise.resolve(store.tokens.add({ id, name: id, hash: id, body: '{}', createdAt: 1 })))
    }
    const report = await copy(there, join(root, 'target'), { onProgress })
    await Promise.all(writes)
    await store.close()
    expect(writes.length).toBeGreaterThan(5)
    expect(report.tables.tokens).toBe(1)
  })
})
