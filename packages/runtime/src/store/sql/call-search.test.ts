import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { ALL_TABLES } from '../../../../../test/support/all-tables.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import type { IndexedCall } from '../../../../core/src/store.ts'
import { adoptDataFolder } from '../../../../sandbox/src/system/data-folder.ts'
import { loadSqlite, migrate, type SqliteDatabase } from '../sqlite/database.ts'
import { CALL_SEARCH } from './call-search.ts'

const MIGRATIONS = ALL_TABLES.sqlite

const folder = join(temporaryFolder('call-search'), 'data')
const store = openStore(folder)
afterAll(() => store.close())

function call(callId: string, changes: Partial<IndexedCall> = {}): IndexedCall {
  return { callId, run: 'r', seq: 1, tool: 't', caller: 'c', status: 'ok', startedAt: 1, ...changes }
}

const put = (...calls: IndexedCall[]) => store.calls.put({ calls, runs: [] })
const find = async (text: string) => (await store.calls.calls({ text, limit: 10 })).map(({ callId }) => callId)

/** The same file, opened past the store. */
function look(): SqliteDatabase {
  const { DatabaseSync } = loadSqlite()
  return new DatabaseSync(join(folder, 'store.db'), { timeout: 1_000 })
}

describe('a search for calls', () => {
  it.each([
    ['100% of "it"\'s', ['100%', '"it"', `"'s`, '% of']],
    ['a_b!c*d AND NOT (e)', ['a_b', '!c*d', 'and not', '(e)', 'd and']],
    ['line one\nline two', ['one\nline', 'e\nl']],
    ['Größe 𝒳𝒴𝒵 日本語 naïve', ['GRÖSSE'.replace('SS', 'ß'), '𝒳𝒴𝒵', '日本語', '語 n', 'ïve']],
    ['ab', ['ab', 'a']],
  ])('finds every part of %j, and nothing else', async (summary, parts) => {
    const id = `odd-${summary.length}`
    await put(call(id, { summary }))
    for (const part of parts) expect([part, await find(part)]).toEqual([part, expect.arrayContaining([id])])
    for (const part of ['100_', 'a%b', 'abd and', 'two\nline', '𝒳𝒵𝒴']) expect(await find(part)).toEqual([])
  })

  it('does not take parts that stand apart for a word', async () => {
    await put(call('apart', { summary: 'walk, alka, lkas' }))
    expect([await find('walkas'), await find('walk')]).toEqual([[], ['apart']])
  })

  it('finds the text that a call has now, and no call that was removed', async () => {
    await put(call('changing', { run: 'gone', status: 'running', summary: 'first words' }))
    await put(call('changing', { run: 'gone', summary: 'second words' }))
    expect([await find('first words'), await find('second words')]).toEqual([[], ['changing']])
    await store.calls.remove('gone')
    await put(call('another', { summary: 'third words' }))
    expect([await find('second words'), await find('third words')]).toEqual([[], ['another']])
  })

  it('finds runs by the text of their calls', async () => {
    await put(call('of-run', { run: 'found', summary: 'only here' }))
    const runs = await store.calls.runs({ text: 'only here', limit: 10 })
    expect(runs.map(({ run }) => run)).toEqual(['found'])
  })

  it('finds the newest of many as those of few', async () => {
    const many = Array.from({ length: 5_100 }, (_, index) =>
      call(`many-${index}`, { run: 'many', startedAt: index, summary: index % 2 ? 'common words' : 'common sense' }),
    )
    await put(...many)
    expect((await find('common')).slice(0, 2)).toEqual(['many-5099', 'many-5098'])
    expect((await find('common words')).slice(0, 2)).toEqual(['many-5099', 'many-5097'])
  })

  it('reads no call for a word that no call has, and none for a status that none has', async () => {
    const database = look()
    const plan = (sql: string) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => (row as { readonly detail: string }).detail)
    const joined = 'call_search CROSS JOIN calls ON calls.number = call_search.rowid'
    expect(
      plan(`SELECT call_id FROM ${joined} WHERE call_search MATCH '"abc"' AND started_at < 9 ORDER BY seq`),
    ).toEqual([
      expect.stringContaining('call_search VIRTUAL TABLE INDEX'),
      'SEARCH calls USING INTEGER PRIMARY KEY (rowid=?)',
      'USE TEMP B-TREE FOR ORDER BY',
    ])
    const byStatus = `SELECT call_id FROM calls WHERE status = ? AND started_at < ? ORDER BY started_at DESC, seq DESC`
    expect(plan(byStatus)[0]).toContain('calls_status (status=? AND started_at<?)')
    database.close()
  })
})

it('keeps the calls of an older store, and finds them', async () => {
  const data = join(temporaryFolder('call-search-old'), 'data')
  mkdirSync(data, { mode: 0o700 })
  const { DatabaseSync } = loadSqlite()
  const old = new DatabaseSync(join(data, 'store.db'), { timeout: 0 })
  migrate(old, 'old', MIGRATIONS.slice(0, MIGRATIONS.indexOf(CALL_SEARCH)))
  const insert = old.prepare(
    `INSERT INTO calls (call_id, run, seq, tool, caller, status, started_at, failed, searched, request) VALUES (?, 'r', 1, 't', 'c', 'ok', ?, 0, ?, 'asked')`,
  )
  insert.run('later', 20, 'some later text')
  insert.run('earlier', 10, 'some earlier text')
  old.close()
  adoptDataFolder(data)
  const migrated = openStore(data)
  const found = async (text: string) => await migrated.calls.calls({ text, limit: 10 })
  expect((await found('some')).map(({ callId }) => callId)).toEqual(['later', 'earlier'])
  expect(await found('earlier text')).toEqual([call('earlier', { startedAt: 10, request: 'asked' })])
  await migrated.close()
})
