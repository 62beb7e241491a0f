import { failAtRunTime, type JobQueue, lazyModule, messageOf, type QueuedJob, ToolError } from '@tool-hub/core'
import { once } from '@tool-hub/core/lib'
import { sqlState } from './errors.ts'

/** What the queue needs of its database. */
export interface QueueDatabase {
  /** Executes a statement with `$1` placeholders; without values it may consist of several. */
  query(sql: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }>
  /** The schema of the store; the queue has one of its own next to it. */
  readonly schema: string
}

/** A job that was taken and not removed is delivered again after this: its worker has ended before it claimed the call. */
const DELIVERY_SECONDS = 10
const MAX_DELIVERIES = 10
const MAX_ATTEMPTS = 3
/** The limit of pg-boss. */
const MAX_SCHEMA_LENGTH = 50
/** How long jobs are kept whose process has ended. */
const RETENTION_HOURS = 24
/** How long pg-boss keeps jobs that it has archived; ours are removed when they are taken. */
const ARCHIVE_MINUTES = 60

/** Opens the queue of a PostgreSQL store, by pg-boss. Throws CONFIG_INVALID if the package is missing. */
export async function openBossQueue(database: QueueDatabase): Promise<JobQueue> {
  const schema = `${database.schema}_queue`
  if (schema.length > MAX_SCHEMA_LENGTH)
    throw new ToolError('CONFIG_INVALID', `The schema ${database.schema} is too long for a queue.`, {
      fix: { key: 'store.schema', hint: `Use a name of at most ${MAX_SCHEMA_LENGTH - '_queue'.length} characters.` },
    })
  const hasWorkerRole = await isWorkerRole(database)
  const Boss = await loadBoss()
  const db = { executeSql: (sql: string, values?: readonly unknown[]) => database.query(sql, values) }
  const boss = new Boss({
    // The user of a worker may take and remove jobs; services maintain the queue.
    ...{ db, schema, schedule: false, supervise: !hasWorkerRole, migrate: !hasWorkerRole },
    ...{ maintenanceIntervalSeconds: DELIVERY_SECONDS / 2, deleteAfterMinutes: ARCHIVE_MINUTES },
  })
  // The database is away: calls and workers report it themselves, and maintenance is tried again.
  boss.on('error', () => {})
  await boss.start().catch(async (error: unknown) => {
    if (hasWorkerRole) throw notReady(schema, error)
    throw sqlState(error) === '42501' ? await notPermitted(database, schema, error) : error
  })
  const known = new Map<string, () => Promise<void>>()
  const prepare = (name: string) => {
    const options = {
      ...{ name: nameOf(name), policy: 'standard' as const, retryLimit: MAX_DELIVERIES },
      ...{ expireInSeconds: DELIVERY_SECONDS, retentionMinutes: RETENTION_HOURS * 60 },
    }
    const create = known.get(name) ?? once(() => again(() => boss.createQueue(options.name, options)))
    known.set(name, create)
    return create()
  }
  return {
    async send(name, { id, body }) {
      await prepare(name)
      // As text: jsonb refuses some characters that JSON allows. Its id keeps it from being added twice.
      await again(() => boss.send(nameOf(name), { body }, { id }))
    },
    async take(name, max) {
      const jobs = await boss.fetch(nameOf(name), { batchSize: max })
      return jobs.map(
        ({ id, data }): QueuedJob => ({ id, body: String((data as { readonly body?: unknown } | null)?.body) }),
      )
    },
    async remove(name, ids) {
      if (ids.length > 0) await boss.deleteJob(nameOf(name), [...ids])
    },
    async list() {
      return (await boss.getQueues()).flatMap(({ name }) => placeOf(name) ?? [])
    },
    hasWorkerRole,
    async close() {
      await boss.stop({ graceful: false, close: false, wait: false })
    },
  }
}

/** deploy/worker-role.sql grants what a worker needs; the tokens are the first thing that it does not need. */
async function isWorkerRole(database: QueueDatabase): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT has_table_privilege('"${database.schema}".tokens', 'SELECT') AS may_read`,
  )
  return !(rows[0] as { readonly may_read: boolean }).may_read
}

function notReady(schema: string, cause: unknown): ToolError {
  return new ToolError(
    'CONFIG_INVALID',
    `The database user of this worker cannot use the queue in the schema ${schema}: ${messageOf(cause)}.`,
    { hint: 'As the user of the services, run tool-hub store migrate; then run deploy/worker-role.sql again.', cause },
  )
}

/** pg-boss creates its schema with IF NOT EXISTS, which needs the right to create one even if it is there. */
async function notPermitted(database: QueueDatabase, schema: string, cause: unknown): Promise<ToolError> {
  const { rows } = await database.query('SELECT current_database() AS database, current_user AS user')
  const { database: name, user } = rows[0] as { readonly database: string; readonly user: string }
  return new ToolError(
    'CONFIG_INVALID',
    `PostgreSQL does not permit the user ${user} to create the schema ${schema}, in which the queue of workers is: ${messageOf(cause)}.`,
    { hint: `As the owner of the database: GRANT CREATE ON DATABASE "${name}" TO "${user}".`, cause },
  )
}

/** Does something again that failed, such as for a deadlock: to create a queue locks the table of all jobs. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS) throw error
    }
  }
}

/** pg-boss takes letters, digits, `_` and `-` in names: a place has a colon and commas, but no `_`. */
function nameOf(place: string): string {
  return place.replaceAll(/[:,]/g, '_')
}

function placeOf(name: string): string | undefined {
  const [first, ...labels] = name.split('_')
  if (first !== 'worker') return undefined
  return labels.length === 0 ? first : `${first}:${labels.join(',')}`
}

/** An optional package: the first call for a worker reports it if it is missing. */
const importBoss = lazyModule(() => import('pg-boss').catch(failAtRunTime), { isPreloaded: false })

/** Whether pg-boss is installed. */
export async function hasBoss(): Promise<boolean> {
  return importBoss().then(
    () => true,
    () => false,
  )
}

async function loadBoss() {
  try {
    return (await importBoss()).default
  } catch (cause) {
    throw new ToolError(
      'CONFIG_INVALID',
      `Workers need the package pg-boss, which could not be loaded: ${messageOf(cause)}`,
      {
        hint: 'Install it next to tool-hub: npm install pg-boss@10.',
        cause,
      },
    )
  }
}
