import { ToolError } from '@tool-hub/core'
import { PROCESS_DEAD_MS } from '../store/processes.ts'
import type { PostgresSession } from './driver.ts'
import type { PostgresPlace } from './errors.ts'
import { lockStatement } from './statements.ts'

/** A schema, and the steps from an empty one to the version that this tool-hub needs. */
export interface SchemaPlace extends PostgresPlace {
  readonly steps: readonly string[]
}

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
export async function examine(session: PostgresSession, place: SchemaPlace): Promise<number> {
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
export async function knownVersion(session: PostgresSession, place: SchemaPlace): Promise<number> {
  const version = await examine(session, place)
  assertNotNewer(version, place)
  return version
}

/** Creates the tables in a new schema; refuses those of another version. */
export async function openSchema(session: PostgresSession, place: SchemaPlace): Promise<void> {
  const version = await knownVersion(session, place)
  if (version === 0) return createTables(session, place)
  if (version < place.steps.length)
    throw refuse(
      `The store in the schema ${place.schema} of PostgreSQL at ${place.name} has version ${version}; this tool-hub needs version ${place.steps.length}.`,
      'Stop the processes of the earlier version, make a backup, and run: tool-hub store migrate.',
    )
}

/**
 * Takes the tables to the current version, each step as a whole; returns the versions before and after. Refuses while
 * processes use the tables, unless `force` is set: they would go on writing as if nothing had changed.
 */
export async function migrateSchema(
  session: PostgresSession,
  place: SchemaPlace,
  { force = false }: { readonly force?: boolean } = {},
): Promise<{ readonly from: number; readonly to: number }> {
  const from = await knownVersion(session, place)
  const to = place.steps.length
  if (from === 0) await createTables(session, place)
  else if (from < to && !force) await assertUnused(session, place)
  for (let version = from; version > 0 && version < to; version++)
    await alone(session, place, async () => {
      // Another process may have taken the step while this one waited.
      if ((await versionOf(session, place)) !== version) return
      await takeSteps(session, place.steps, { from: version, to: version + 1 })
    })
  return { from, to }
}

/** A process with a current heartbeat. */
interface LiveProcess {
  readonly kind: string
  readonly host: string
  readonly pid: number
  readonly version: string
}

const LIVE_PROCESSES = `SELECT kind, host, pid, version FROM processes
 WHERE seen_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000 - $1 ORDER BY started_at, id`
const MAX_NAMED = 10

async function assertUnused(session: PostgresSession, { schema, name }: SchemaPlace): Promise<void> {
  const { rows: found } = await session.query(`SELECT to_regclass('processes') IS NOT NULL AS is_there`)
  // Earlier versions of the tables have no heartbeats.
  if (!(found[0] as { readonly is_there: boolean }).is_there) return
  const { rows } = await session.query(LIVE_PROCESSES, [PROCESS_DEAD_MS])
  if (rows.length === 0) return
  const named = (rows as LiveProcess[])
    .slice(0, MAX_NAMED)
    .map(({ kind, host, pid, version }) => `${kind} on ${host} (pid ${pid}, tool-hub ${version})`)
  const more = rows.length > MAX_NAMED ? `, and ${rows.length - MAX_NAMED} more` : ''
  throw new ToolError(
    'CONFLICT',
    `The store in the schema ${schema} of PostgreSQL at ${name} is in use: ${named.join(', ')}${more}. Nothing was changed.`,
    {
      hint: 'Stop these processes, then try again; one that was killed counts for 10 s. With --force, the tables are changed now, and these processes stop using them.',
    },
  )
}

/** The error for a process whose tables were migrated while it ran; `undefined` if they were not. */
export async function outdated(session: PostgresSession, place: SchemaPlace): Promise<ToolError | undefined> {
  const version = await versionOf(session, place)
  if (version <= place.steps.length) return undefined
  return new ToolError(
    'PROCESS_CUT_OFF',
    `The store in the schema ${place.schema} of PostgreSQL at ${place.name} was changed to version ${version} while this process ran, which knows up to ${place.steps.length}: it no longer uses the store.`,
    { hint: 'Stop this process, update tool-hub on this machine, and start it again.' },
  )
}

/** All steps in one transaction: a process that starts at the same time finds no tables, or all of them. */
function createTables(session: PostgresSession, place: SchemaPlace): Promise<void> {
  return alone(session, place, async () => {
    if ((await examine(session, place)) !== 0) return
    const { rows } = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [place.schema])
    // Not IF NOT EXISTS, which needs the right to create a schema even if there is one.
    if (rows.length === 0) await session.query(`CREATE SCHEMA "${place.schema}"`)
    await session.query(`CREATE TABLE store_version (version BIGINT NOT NULL); INSERT INTO store_version VALUES (0)`)
    await takeSteps(session, place.steps, { from: 0, to: place.steps.length })
  })
}

async function takeSteps(
  session: PostgresSession,
  steps: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  for (const step of steps.slice(from, to)) await session.query(step)
  await session.query('UPDATE store_version SET version = $1', [to])
}

/** One process at a time; a step may take as long as the tables are large. */
async function alone(session: PostgresSession, place: SchemaPlace, work: () => Promise<void>): Promise<void> {
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

async function versionOf(session: PostgresSession, { schema }: SchemaPlace): Promise<number> {
  const { rows } = await session.query(`SELECT version FROM "${schema}".store_version`)
  return (rows[0] as { readonly version: number } | undefined)?.version ?? 0
}

function assertUsable(facts: Facts, { name, database }: SchemaPlace, skewMs: number): void {
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

function assertNotNewer(version: number, { schema, name, steps }: SchemaPlace): void {
  if (version > steps.length)
    throw refuse(
      `The store in the schema ${schema} of PostgreSQL at ${name} has version ${version}; this tool-hub knows up to ${steps.length}.`,
      'Update tool-hub on this machine: npm install tool-hub@latest.',
    )
}

function refuse(message: string, hint: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, { hint })
}
