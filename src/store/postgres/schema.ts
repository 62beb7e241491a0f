import { ToolError } from '../../core/index.ts'
import { POSTGRES_MIGRATIONS } from '../sqlite/migrations.ts'
import type { PostgresSession } from './driver.ts'
import type { PostgresPlace } from './errors.ts'
import { lockStatement } from './statements.ts'

/** The version of the tables that this tool-hub needs. */
export const SCHEMA_VERSION = POSTGRES_MIGRATIONS.length

/** The clocks of this machine and of the database may differ by this much. */
const MAX_SKEW_MS = 5_000
/** `pg_trgm` can be created by the owner of a database since this version, which pg-boss needs, too. */
const MIN_SERVER = 130_000

/** What a database says of itself, and of the schema. */
interface Facts {
  readonly version_number: number
  readonly encoding: string
  readonly is_read_only: boolean
  readonly clock: number
  readonly has_schema: boolean
  readonly has_version: boolean
  readonly tables: number
}

const FACTS = `SELECT CAST(current_setting('server_version_num') AS INTEGER) AS version_number,
 current_setting('server_encoding') AS encoding,
 pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS is_read_only,
 CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS DOUBLE PRECISION) AS clock,
 EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1) AS has_schema,
 to_regclass(quote_ident($1) || '.store_version') IS NOT NULL AS has_version,
 (SELECT COUNT(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')) AS tables`

/** Refuses a server that cannot hold a store; returns the version of its tables, 0 if there are none. */
export async function examine(session: PostgresSession, place: PostgresPlace): Promise<number> {
  const before = Date.now()
  const { rows } = await session.query(FACTS, [place.schema])
  const facts = rows[0] as Facts
  assertUsable(facts, place, clockSkew(facts.clock, before, Date.now()))
  if (facts.has_version) return versionOf(session, place)
  if (facts.tables === 0) return 0
  throw refuse(
    `The schema ${place.schema} of PostgreSQL at ${place.name} holds tables of another program, and no store.`,
    'Give the store a schema of its own.',
  )
}

/** The version of the tables, 0 if there are none; refuses those of a later tool-hub. */
export async function knownVersion(session: PostgresSession, place: PostgresPlace): Promise<number> {
  const version = await examine(session, place)
  assertNotNewer(version, place)
  return version
}

/** Creates the tables in a new schema; refuses those of another version. */
export async function openSchema(session: PostgresSession, place: PostgresPlace): Promise<void> {
  const version = await knownVersion(session, place)
  if (version === 0) return createTables(session, place)
  if (version < SCHEMA_VERSION)
    throw refuse(
      `The store in the schema ${place.schema} of PostgreSQL at ${place.name} has version ${version}; this tool-hub needs version ${SCHEMA_VERSION}.`,
      'Stop the processes of the earlier version, make a backup, and run: tool-hub store migrate.',
    )
}

/** Takes the tables to the current version, each step as a whole; returns the versions before and after. */
export async function migrateSchema(
  session: PostgresSession,
  place: PostgresPlace,
): Promise<{ readonly from: number; readonly to: number }> {
  const from = await knownVersion(session, place)
  if (from === 0) await createTables(session, place)
  for (let version = from; version > 0 && version < SCHEMA_VERSION; version++)
    await alone(session, place, async () => {
      // Another process may have taken the step while this one waited.
      if ((await versionOf(session, place)) !== version) return
      await takeSteps(session, version, version + 1)
    })
  return { from, to: SCHEMA_VERSION }
}

/** All steps in one transaction: a process that starts at the same time finds no tables, or all of them. */
function createTables(session: PostgresSession, place: PostgresPlace): Promise<void> {
  return alone(session, place, async () => {
    if ((await examine(session, place)) !== 0) return
    const { rows } = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [place.schema])
    // Not IF NOT EXISTS, which needs the right to create a schema even if there is one.
    if (rows.length === 0) await session.query(`CREATE SCHEMA "${place.schema}"`)
    await session.query(`CREATE TABLE store_version (version BIGINT NOT NULL); INSERT INTO store_version VALUES (0)`)
    await takeSteps(session, 0, SCHEMA_VERSION)
  })
}

async function takeSteps(session: PostgresSession, from: number, to: number): Promise<void> {
  for (const step of POSTGRES_MIGRATIONS.slice(from, to)) await session.query(step)
  await session.query('UPDATE store_version SET version = $1', [to])
}

/** One process at a time; a step may take as long as the tables are large. */
async function alone(session: PostgresSession, place: PostgresPlace, work: () => Promise<void>): Promise<void> {
  await session.query(`BEGIN; SET LOCAL statement_timeout TO 0; ${lockStatement(place.schema, ['migration'])}`)
  try {
    await work()
    await session.query('COMMIT')
  } catch (error) {
    // The first error is the one that counts; a lost connection rolls back by itself.
    await session.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function versionOf(session: PostgresSession, { schema }: PostgresPlace): Promise<number> {
  const { rows } = await session.query(`SELECT version FROM "${schema}".store_version`)
  return (rows[0] as { readonly version: number } | undefined)?.version ?? 0
}

function assertUsable(facts: Facts, { name, database }: PostgresPlace, skewMs: number): void {
  const said = `PostgreSQL at ${name}`
  if (facts.version_number < MIN_SERVER)
    throw refuse(
      `${said} has version ${Math.floor(facts.version_number / 10_000)}; the store needs 13 or later.`,
      'Update the server.',
    )
  if (facts.encoding !== 'UTF8')
    throw refuse(
      `The database ${database} of ${said} has the encoding ${facts.encoding}; the store needs UTF8.`,
      `Create another: createdb --encoding=UTF8 --template=template0 ${database}_utf8.`,
    )
  if (facts.is_read_only)
    throw refuse(
      `${said} takes no changes: it is a standby, or read-only.`,
      'Name the primary server in the URL of the store.',
    )
  if (Math.abs(skewMs) > MAX_SKEW_MS)
    throw refuse(
      `The clock of this machine is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of ${said}; at most 5 s are allowed.`,
      'Synchronize the clocks of both machines with NTP (timedatectl set-ntp true), then start again.',
    )
}

/** How far this clock is ahead; the answer was made somewhere between the two moments. */
function clockSkew(theirs: number, before: number, after: number): number {
  if (theirs < before) return before - theirs
  return theirs > after ? after - theirs : 0
}

function assertNotNewer(version: number, { schema, name }: PostgresPlace): void {
  if (version > SCHEMA_VERSION)
    throw refuse(
      `The store in the schema ${schema} of PostgreSQL at ${name} has version ${version}; this tool-hub knows up to ${SCHEMA_VERSION}.`,
      'Update tool-hub on this machine: npm install tool-hub@latest.',
    )
}

function refuse(message: string, hint: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, { hint })
}
