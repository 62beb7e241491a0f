import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Store, systemClock, ToolError } from '@tool-hub/core'
import { migratePostgres, openPostgresStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { ALL_TABLES } from '../../../../test/support/all-tables.ts'
import { newProcess } from '../../../../test/support/cluster-served.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { ClusterMember } from '../membership/cluster-member.ts'
import { type PostgresStoreOptions, postgresVersion } from './postgres-store.ts'

const SCHEMA_VERSION = ALL_TABLES.postgres.length

const ACCESS = `local all postgres trust
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`
let server: TestPostgres
let certificate: string
let schemas = 0
beforeAll(async () => {
  const folder = temporaryFolder('tls')
  certificate = join(folder, 'server.crt')
  const key = join(folder, 'server.key')
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  const made = ['req', '-new', '-x509', '-days', '2', '-nodes', '-out', certificate, '-keyout', key, ...subject]
  execFileSync('openssl', made, { stdio: 'ignore' })
  chmodSync(key, 0o600)
  server = await startPostgres({ tcp: true, tls: { cert: certificate, key }, access: ACCESS })
  server.sql(`CREATE ROLE poor LOGIN PASSWORD 'p@ss'`)
})
afterAll(() => server.close())
const opened: Store[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

function open(url: string, options: PostgresStoreOptions = {}): Store {
  const store = openPostgresStore(url, { schema: `start_${++schemas}`, ...options })
  opened.push(store)
  return store
}

async function refusal(url: string, options: PostgresStoreOptions = {}): Promise<ToolError> {
  try {
    await open(url, options).check()
  } catch (error) {
    if (ToolError.is(error)) return error
    throw error
  }
  throw new Error('It was not refused.')
}

describe('a URL', () => {
  it.each([
    ['not a url', 'The URL of the store cannot be read.'],
    ['mysql://u:secret@h/db', 'The URL of the store does not begin with postgres://.'],
    ['postgres://u:secret@h/db?sslmode=perhaps', 'Unknown sslmode=perhaps in the URL of the store.'],
    ['postgres://u:secret@h/db?sslrootcert=/no/such/file', 'sslrootcert of the store cannot be read'],
  ])('%s is refused, without its password', async (url, message) => {
    const error = await refusal(url)
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(error.message).toContain(message)
    expect(JSON.stringify([error.message, error.fix, error.details])).not.toContain('secret')
  })

  it.each(['Tool', 'a-b', 'a"b', '', 'pg_mine', 'x'.repeat(60)])('takes no schema named %j', async (schema) => {
    expect((await refusal(server.url, { schema })).message).toContain('Invalid schema name')
  })
})

describe('a server', () => {
  it.each([
    ['whose host does not exist', () => 'postgres://u@no-such-host.invalid/db', 'has no address'],
    [
      'that is not there',
      () => 'postgres://u@127.0.0.1:1/db',
      'No PostgreSQL answers at 127.0.0.1:1/db (ECONNREFUSED)',
    ],
    ['without this database', () => server.urlOf({ database: 'nothing' }), 'has no database nothing'],
    ['with another password', () => server.urlOf({ user: 'poor', password: 'wrong' }), 'refuses the user poor'],
    ['without a password', () => server.urlOf({ user: 'poor' }), 'requires a password for the user poor'],
    ['without this user', () => server.urlOf({ user: 'nobody', password: 'x' }), 'refuses the user nobody'],
  ])('%s is refused with what to do', async (_, url, message) => {
    const error = await refusal(url())
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(error.message).toContain(message)
    expect(error.fix.hint).not.toBe('')
    // The process ends, so nothing connects later.
    expect(error.fix.hint).not.toContain('by itself')
  })

  it('that permits no new schema says which statement helps, and that helps', async () => {
    const url = server.urlOf({ user: 'poor', password: 'p@ss' })
    const error = await refusal(url, { schema: 'poor_hub' })
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(error.fix.hint).toContain('CREATE SCHEMA IF NOT EXISTS "poor_hub"')
    server.sql(`CREATE SCHEMA poor_hub; GRANT USAGE, CREATE ON SCHEMA poor_hub TO poor`)
    const store = open(url, { schema: 'poor_hub' })
    await store.check()
    const hint = 'As the owner of the database: GRANT CREATE ON DATABASE "postgres" TO "poor".'
    await expect(store.openQueue!()).rejects.toMatchObject({ code: 'CONFIG_INVALID', fix: { hint } })
    server.sql(`GRANT CREATE ON DATABASE postgres TO poor`)
    await open(url, { schema: 'poor_hub' }).openQueue!()
    server.sql(`REVOKE CREATE ON DATABASE postgres FROM poor`)
  })

  it('that takes no changes is refused', async () => {
    server.sql(`ALTER ROLE poor SET default_transaction_read_only = on`)
    try {
      const error = await refusal(server.urlOf({ user: 'poor', password: 'p@ss' }), { schema: 'poor_hub' })
      expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
      expect(error.message).toContain('takes no changes')
    } finally {
      server.sql(`ALTER ROLE poor RESET default_transaction_read_only`)
    }
  })

  it.each([
    [-6_000, '6.0 s behind'],
    [7_000, '7.0 s ahead of'],
  ])('whose clock differs by %d ms is refused', async (skew, message) => {
    const store = open(server.url)
    await store.check()
    const now = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => now() + skew)
    const error = await store.check().catch((thrown: unknown) => thrown as ToolError)
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', fix: { hint: expect.stringContaining('NTP') } })
    // The last digit is the time that the answer took.
    expect(error && 'message' in error ? error.message : '').toContain(message.slice(message.indexOf(' s')))
  })

  it('with another encoding is refused', async () => {
    server.sql(`CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
    expect((await refusal(server.urlOf({ database: 'latin' }))).message).toContain('the store needs UTF8')
  })

  it('with tables of another program in the schema is refused', async () => {
    server.sql('CREATE SCHEMA other; CREATE TABLE other.things (id int)')
    expect((await refusal(server.url, { schema: 'other' })).message).toContain('holds tables of another program')
  })
})

describe('tables of another version', () => {
  it('that is older are refused by all processes until somebody migrates them', async () => {
    await open(server.url, { schema: 'older' }).check()
    server.sql(`UPDATE older.store_version SET version = ${SCHEMA_VERSION - 1}`)
    const error = await refusal(server.url, { schema: 'older' })
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(error.message).toContain(`has version ${SCHEMA_VERSION - 1}; this tool-hub needs version ${SCHEMA_VERSION}`)
    expect(error.fix.hint).toContain('tool-hub store migrate')
  })

  it('that is newer are refused', async () => {
    await open(server.url, { schema: 'newer' }).check()
    server.sql(`UPDATE newer.store_version SET version = ${SCHEMA_VERSION + 1}`)
    const error = await refusal(server.url, { schema: 'newer' })
    expect(error.message).toContain(`this tool-hub knows up to ${SCHEMA_VERSION}`)
    expect(error.fix.hint).toContain('Update tool-hub')
    for (const ask of [migratePostgres, postgresVersion])
      await expect(ask(server.url, { schema: 'newer', features: ALL_TABLES.features })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      })
  })

  it('are created by a migration of an empty schema, once', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => migratePostgres(server.url, { schema: 'fresh' })))
    expect(all.every(({ to }) => to === SCHEMA_VERSION)).toBe(true)
    expect(await migratePostgres(server.url, { schema: 'fresh' })).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
    await open(server.url, { schema: 'fresh' }).check()
  })
})

describe('a migration', () => {
  const older = async (schema: string) => {
    const store = open(server.url, { schema })
    await store.processes.beat(newProcess('p-1', 'http://127.0.0.1:9'))
    server.sql(`UPDATE ${schema}.store_version SET version = ${SCHEMA_VERSION - 1}`)
    return store
  }

  it('is refused while processes use the tables, and names them', async () => {
    await older('used')
    const refused = migratePostgres(server.url, { schema: 'used' })
    await expect(refused).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/is in use: service on h \(pid 1, tool-hub 1\)\. Nothing was changed/),
      fix: { hint: expect.stringMatching(/Stop these processes[\s\S]*--force/) },
    })
    expect(server.sql('SELECT version FROM used.store_version').trim()).toBe(String(SCHEMA_VERSION - 1))
  })

  it('is not refused because of processes that have ended, or were killed some time ago', async () => {
    const store = await older('ended')
    await store.processes.beat(newProcess('p-2', 'http://127.0.0.1:9'))
    server.sql(`UPDATE ended.processes SET seen_at = seen_at - 11000 WHERE id = 'p-1'`)
    await store.processes.remove('p-2')
    await expect(migrated('ended')).resolves.not.toBe('CONFLICT')
  })

  it('is not refused with force', async () => {
    await older('forced')
    await expect(migrated('forced', { force: true })).resolves.not.toBe('CONFLICT')
  })

  it('of current tables is not refused: there is nothing to do', async () => {
    await open(server.url, { schema: 'current' }).processes.beat(newProcess('p-1', 'http://127.0.0.1:9'))
    expect(await migratePostgres(server.url, { schema: 'current' })).toMatchObject({ to: SCHEMA_VERSION })
  })

  it('ends what a process that still runs does with the store, with its next heartbeat', async () => {
    const store = open(server.url, { schema: 'changed' })
    await store.processes.beat(newProcess('p-1', 'http://127.0.0.1:9'))
    server.sql(`UPDATE changed.store_version SET version = ${SCHEMA_VERSION + 1}`)
    const error = {
      code: 'PROCESS_CUT_OFF',
      message: expect.stringMatching(`was changed to version ${SCHEMA_VERSION + 1} while this process ran`),
      fix: { hint: expect.stringMatching(/update tool-hub/) },
    }
    await expect(store.processes.beat(newProcess('p-1', 'http://127.0.0.1:9'))).rejects.toMatchObject(error)
    const { rows } = JSON.parse(server.sql(`SELECT json_build_object('rows', COUNT(*)) FROM changed.tokens`))
    for (const use of [
      () => store.check(),
      () => store.runStates.lease('r', { owner: 'p-1' }),
      () => store.tokens.list(),
      () => store.documents.read('x'),
    ])
      await expect((async () => use())()).rejects.toMatchObject(error)
    expect(rows).toBe(0)
    // Whatever happens to the tables later, this process knows no longer what they hold.
    server.sql(`UPDATE changed.store_version SET version = ${SCHEMA_VERSION}`)
    await expect(store.tokens.list()).rejects.toMatchObject(error)
  })

  it('cuts off a process of the earlier version, which says why', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const store = open(server.url, { schema: 'member' })
    const member = new ClusterMember({ store, clock: systemClock, running: () => 0 })
    await member.lease('run', undefined)
    const cut = new Promise<void>((resolve) => void member.onCut(resolve))
    server.sql(`UPDATE member.store_version SET version = ${SCHEMA_VERSION + 1}`)
    await cut
    expect(member.isCut).toBe(true)
    const why = expect.objectContaining({ code: 'PROCESS_CUT_OFF', message: expect.stringMatching(/was changed to/) })
    expect(() => member.assertHolds('run')).toThrow(why)
    expect(warned).toHaveBeenCalledWith(expect.stringMatching(/was changed to[\s\S]*update tool-hub/), 'ToolHubWarning')
    await member.close()
  })
})

/** Ends with the code of what went wrong: the tables have the version that the test says only in name. */
async function migrated(schema: string, options: { readonly force?: boolean } = {}): Promise<unknown> {
  return migratePostgres(server.url, { schema, ...options }).catch(({ code }) => code)
}

describe('TLS', () => {
  const remote = (mode: string) => `${server.url}?sslmode=${mode}`

  it('is refused with a certificate that nobody vouches for', async () => {
    const error = await refusal(remote('verify-full'))
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(error.message).toContain('is not trusted')
    expect(error.fix.hint).toContain('tls.ca')
  })

  it('is used with the certificate of the server, from the options or from a file', async () => {
    await open(server.url, { tls: { ca: readFileSync(certificate, 'utf8') } }).check()
    await open(`${remote('verify-full')}&sslrootcert=${encodeURIComponent(certificate)}`).check()
    const encrypted = `SELECT COUNT(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'tool-hub'`
    expect(Number(server.sql(encrypted))).toBeGreaterThan(0)
  })

  it('is used without a verified certificate only if the URL says so', async () => {
    await open(remote('no-verify')).check()
  })
})

describe('values', () => {
  it.each([
    `'; DROP TABLE tokens; --`,
    '?',
    '$1',
    String.raw`\'`,
    String.raw`E'\\x00'`,
    '"',
    '%_!',
    '\u{1f642}\u{10ffff}',
    '\n\t\r',
    'null',
    '{"a":["b"]}',
    'x'.repeat(1_000_000),
  ])('come back as they were: %#', async (text) => {
    const store = open(server.url, { schema: 'values' })
    const token = { id: 't', name: text.slice(0, 500), hash: 'h', body: text, createdAt: 2 ** 52 }
    await store.tokens.add(token)
    expect(await store.tokens.list()).toEqual([token])
    expect(await store.tokens.remove('t')).toBe(true)
  })

  it('with NUL are refused as SQLite refuses them', async () => {
    await expect(async () => open(server.url).keys.look('a\0b')).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'Text in the store must not contain a NUL character.',
    })
  })

  it('that PostgreSQL does not take are refused with a reason', async () => {
    const store = open(server.url)
    const token = { id: 't', name: 'n', hash: 'h', body: '', createdAt: 1.5 }
    await expect(async () => store.tokens.add(token)).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    const random = Array.from({ length: 4_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000))).join(
      '',
    )
    await expect(async () => store.tokens.add({ ...token, createdAt: 1, name: random })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'A name or key in the store is too long for PostgreSQL.',
    })
  })

  it('of one schema are not seen in another', async () => {
    const [one, two] = [open(server.url), open(server.url)]
    await one.tokens.add({ id: 't', name: 'n', hash: 'h', body: '', createdAt: 1 })
    expect(await two.tokens.list()).toEqual([])
  })
})

it('works without prepared statements', async () => {
  const store = open(server.url, { prepare: false })
  await store.tokens.add({ id: 't', name: 'n', hash: 'h', body: '', createdAt: 1 })
  expect(await store.tokens.list()).toHaveLength(1)
})

it('finds calls by any part of their text, with an index of trigrams', async () => {
  const store = open(server.url, { schema: 'search' })
  const call = { run: 'r', seq: 1, caller: 'ada', status: 'ok' as const, startedAt: 1 }
  const calls = ['core/fs.readText', 'core/web.Search', 'ÄPFEL_50%'].map((tool, n) => ({
    ...call,
    tool,
    callId: `c${n}`,
  }))
  await store.calls.put({ calls, runs: [] })
  const found = async (text: string) => (await store.calls.calls({ text, limit: 10 })).map(({ callId }) => callId)
  expect(await found('WEB.sea')).toEqual(['c1'])
  expect(await found('äpfel_5')).toEqual(['c2'])
  expect(await found('50%')).toEqual(['c2'])
  expect(await found('_')).toEqual(['c2'])
  expect(await found('a')).toHaveLength(3)
  expect(
    server.sql(`SELECT COUNT(*) FROM pg_indexes WHERE schemaname = 'search' AND indexname = 'calls_searched'`).trim(),
  ).toBe('1')
})
