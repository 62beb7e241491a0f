import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ALL_TABLES } from '../../../../../test/support/all-tables.ts'
import { markDataFolder } from '../../../../sandbox/src/system/data-folder.ts'
import { loadSqlite, migrate, type SqliteDatabase } from './database.ts'

const MIGRATIONS = ALL_TABLES.sqlite

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-migrate-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What a file of that version holds, put there as the tool-hub of its time did. */
const ROWS: readonly string[] = [
  `INSERT INTO idempotency_keys (name, args_hash, state, owner, result, expires_at) VALUES ('k', 'h', 'finished', 'o', '1', 9)`,
  `INSERT INTO grants (id, tool, body, created_at) VALUES ('g', 't', '{}', 1)`,
  `INSERT INTO tokens (id, name, hash, body, created_at) VALUES ('t', 'ci', 'hash', '{}', 1)`,
  `INSERT INTO slots (slot, owner, leased_until) VALUES ('s', 'o', 1)`,
  `INSERT INTO runs (run, caller, started_at, ended_at, calls, failures, bytes) VALUES ('r', 'c', 1, 2, 3, 1, 99)`,
  `INSERT INTO events (seq, topic, body, created_at) VALUES (1, 'ask', '{}', 1)`,
  `INSERT INTO rates (bucket, tokens, filled_at, full_at) VALUES ('b', 1, 1, 2)`,
  `INSERT INTO inbox (id, sent_at, level, content, caller, run, call_id, untrusted, attachments) VALUES ('m', 1, 'info', 'hi', 'c', 'r', 'c1', 0, '[]')`,
  `INSERT INTO agent_sessions (id, seq, root, depth, root_principal, tainted, created_at, owner, state) VALUES ('s', 1, 's', 0, 'o', 0, 1, 'o', 'running')`,
  `INSERT INTO canvases (id, run, name, title, kind, caller, hidden, tainted, last_version, created_at, updated_at) VALUES ('c', 'r', 'n', 't', 'html', 'c', 0, 0, 1, 1, 1)`,
  `INSERT INTO schedules (id, principal, name, body, state, version, created_at, runs) VALUES ('s', 'o', 'n', '{}', 'on', 1, 1, 0)`,
  `INSERT INTO memory_scopes (scope, number, notes) VALUES ('s', 1, 0)`,
  `INSERT INTO run_heads (run, opening, seq, hash, kept_at) VALUES ('r', 'o', 1, 'h', 1)`,
  `INSERT INTO calls (call_id, run, seq, tool, caller, status, started_at, failed, searched) VALUES ('c', 'r', 1, 't', 'c', 'ok', 1, 0, '')`,
  `INSERT INTO calls (call_id, run, seq, tool, caller, status, started_at, failed, searched, purpose, request) VALUES ('d', 'r', 2, 't', 'c', 'ok', 2, 0, 'old text', 'p', 'q')`,
  `INSERT INTO calls (call_id, run, seq, tool, caller, status, started_at, failed, searched) VALUES ('e', 'r', 3, 't', 'c', 'ok', 3, 0, 'new text')`,
  `INSERT INTO user_texts (run, seq, body, added_at) VALUES ('r', 1, 'hello', 1)`,
  `INSERT INTO scripts (id, run, caller, sha256, source, setup, status, approvals, created_at, updated_at) VALUES ('s', 'r', 'c', 'h', '1', '{}', 'suspended', '[]', 1, 1)`,
  `INSERT INTO saved_scripts (name, description, sha256, source, input_schema, saved_by, saved_at) VALUES ('n', 'd', 'h', '1', '{}', 'o', 1)`,
  `INSERT INTO run_states (run, owner, epoch, leased_at, tainted_by, was_cleared) VALUES ('r', 'a', 1, 1, '[]', 0)`,
  `INSERT INTO rates (bucket, tokens, filled_at, full_at) VALUES ('b21', 1, 1, 2)`,
  `INSERT INTO worker_calls (id, queue, run, state, queued_at) VALUES ('c', 'worker', 'r', 'queued', 1)`,
  `INSERT INTO rates (bucket, tokens, filled_at, full_at) VALUES ('b23', 1, 1, 2)`,
  `INSERT INTO documents (name, body, revision) VALUES ('d', '{}', 1)`,
  `INSERT INTO rates (bucket, tokens, filled_at, full_at) VALUES ('b25', 1, 1, 2)`,
  `INSERT INTO tokens (id, name, hash, body, created_at, previous_hash, previous_expires_at) VALUES ('t26', 'rotated', 'hash26', '{}', 1, 'previous', 9)`,
  `INSERT INTO rates (bucket, tokens, filled_at, full_at) VALUES ('b27', 1, 1, 2)`,
]

function openFile(name: string): SqliteDatabase {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(folder, name), { timeout: 0 })
  database.exec('PRAGMA synchronous = OFF')
  return database
}

function schemaOf(database: SqliteDatabase): unknown[] {
  return database.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all()
}

describe('migrate', () => {
  it.each(MIGRATIONS.map((_, version) => version))('takes a file of version %i to the last one', async (version) => {
    const fresh = openFile(`fresh-${version}.db`)
    migrate(fresh, 'fresh', MIGRATIONS)
    const old = openFile(`old-${version}.db`)
    migrate(old, 'old', MIGRATIONS.slice(0, version))
    for (const row of ROWS.slice(0, version)) old.exec(row)
    const before = ROWS.slice(0, version).map((row) => old.prepare(`SELECT * FROM ${row.split(' ')[2]}`).all())
    migrate(old, 'old', MIGRATIONS)
    expect(schemaOf(old)).toEqual(schemaOf(fresh))
    expect(old.prepare('PRAGMA user_version').get()).toEqual({ user_version: MIGRATIONS.length })
    expect(ROWS.slice(0, version).map((row) => old.prepare(`SELECT * FROM ${row.split(' ')[2]}`).all())).toMatchObject(
      before,
    )
    for (const database of [fresh, old]) database.close()
  })

  it('finds out whose the runs of older files are', async () => {
    const old = openFile('owners.db')
    migrate(old, 'old', MIGRATIONS.slice(0, 13))
    for (const [run, principal] of Object.entries({ a: 'token:ci', b: 'token:ci/b', c: null })) {
      old.exec(
        `INSERT INTO runs (run, caller, started_at, ended_at, calls, failures, bytes) VALUES ('${run}', 'c', 1, 2, 1, 0, 9)`,
      )
      old
        .prepare(
          `INSERT INTO calls (call_id, run, seq, tool, caller, principal, status, started_at, failed, searched) VALUES (?, ?, 1, 't', 'c', ?, 'ok', 1, 0, '')`,
        )
        .run(`of-${run}`, run, principal)
    }
    old.exec(
      `INSERT INTO agent_sessions (id, seq, root, depth, principal, root_principal, tainted, created_at, owner, state) VALUES ('b', 1, 'a', 1, 'token:ci/b', 'token:ci', 0, 1, 'o', 'ended')`,
    )
    migrate(old, 'old', MIGRATIONS)
    expect(old.prepare('SELECT run, principal FROM runs ORDER BY run').all()).toEqual([
      { run: 'a', principal: 'token:ci' },
      { run: 'b', principal: 'token:ci' },
      { run: 'c', principal: null },
    ])
    old.close()
  })

  it('counts the denied calls of older files', () => {
    const old = openFile('denials.db')
    migrate(old, 'old', MIGRATIONS.slice(0, 25))
    old.exec(ROWS[4]!)
    for (const [index, status] of ['denied', 'ok', 'denied', 'error'].entries())
      old.exec(
        `INSERT INTO calls (call_id, run, seq, tool, caller, status, started_at, failed, searched) VALUES ('${index}', 'r', 1, 't', 'c', '${status}', 1, 0, '')`,
      )
    migrate(old, 'old', MIGRATIONS)
    expect(old.prepare('SELECT denials FROM runs').all()).toEqual([{ denials: 2 }])
    old.close()
  })

  it('has rows to take along for every version but the last', () => {
    expect(ROWS).toHaveLength(MIGRATIONS.length - 1)
  })

  it('refuses a file of a version that it does not know, and leaves it as it is', async () => {
    markDataFolder(folder)
    const newer = openFile('store.db')
    migrate(newer, 'newer', [...MIGRATIONS, 'CREATE TABLE later (id TEXT PRIMARY KEY)'])
    const before = schemaOf(newer)
    await expect(openStore(folder).check()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`has version ${MIGRATIONS.length + 1}; this tool-hub knows up to`),
      fix: { hint: 'Use the newer tool-hub that wrote it, or put back a backup from before.' },
    })
    expect(schemaOf(newer)).toEqual(before)
    newer.close()
  })

  it('refuses a database of another program', () => {
    const other = openFile('other.db')
    other.exec('CREATE TABLE photos (id INTEGER); PRAGMA user_version = 3')
    expect(() => migrate(other, 'other', MIGRATIONS)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'other is a database of another program, not a store.',
        fix: { hint: 'Use another folder.' },
      }),
    )
    other.close()
  })

  it.each([
    ['that has tables and no version', 'CREATE TABLE photos (id INTEGER)'],
    ['that is empty and has a version', 'PRAGMA user_version = 1'],
  ])('refuses a database of another program %s', (_, sql) => {
    const other = openFile(`other-${sql.length}.db`)
    other.exec(sql)
    expect(() => migrate(other, 'other', MIGRATIONS)).toThrow('another program')
    other.close()
  })

  it('marks the file as a store of tool-hub, by the letters thub', () => {
    const file = openFile('marked.db')
    migrate(file, 'marked', MIGRATIONS)
    expect(file.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0x74687562 })
    file.close()
  })

  it('takes a step whole or not at all', () => {
    const file = openFile('broken.db')
    const steps = [MIGRATIONS[0]!, 'CREATE TABLE half (id TEXT); CREATE TABLE half (id TEXT)']
    expect(() => migrate(file, 'broken', steps)).toThrow(/already exists/)
    expect(file.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 })
    expect(file.prepare(`SELECT name FROM sqlite_master WHERE name = 'half'`).all()).toEqual([])
    migrate(file, 'broken', [MIGRATIONS[0]!, 'CREATE TABLE half (id TEXT)'])
    expect(file.prepare('PRAGMA user_version').get()).toEqual({ user_version: 2 })
    file.close()
  })
})
