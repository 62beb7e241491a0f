import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { Pool, PoolClient, PoolConfig } from 'pg'
import { lazyModule, messageOf, ToolError } from '../../core/index.ts'
import type { PostgresResult, PostgresSession } from './driver.ts'
import type { PostgresPlace } from './errors.ts'

/** TLS to the server, as `tls.connect` of Node takes it. */
export type PostgresTls = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'passphrase' | 'servername' | 'rejectUnauthorized'
>

/** How to connect. */
export interface PostgresConnectOptions {
  readonly url: string
  readonly schema: string
  readonly pool: number
  readonly tls: PostgresTls | false | undefined
  readonly statementTimeoutMs: number
  readonly connectTimeoutMs: number
}

/** Where to connect, and the settings of `pg` for it. */
export interface PostgresConnection {
  readonly place: PostgresPlace
  readonly config: PoolConfig
}

const loadPackage = lazyModule(() => import('pg'), { isPreloaded: false })

/** Loads `pg`, an optional dependency. */
export async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await loadPackage()
  } catch (cause) {
    throw new ToolError('CONFIG_INVALID', 'The package pg, which a store on PostgreSQL needs, is missing.', {
      hint: 'npm install pg',
      cause,
    })
  }
}

const NAME = /^[a-z_][a-z0-9_]{0,47}$/

/** Reads the URL; nothing that it throws shows the password. */
export function parseConnection(options: PostgresConnectOptions): PostgresConnection {
  const { schema, pool, statementTimeoutMs, connectTimeoutMs } = options
  if (!NAME.test(schema) || schema.startsWith('pg_'))
    throw invalid(`Invalid schema name ${JSON.stringify(schema)} of the store.`, 'Use letters, digits and _: tool_hub.')
  const url = parseUrl(options.url)
  const host = url.searchParams.get('host') ?? (decodeURIComponent(url.hostname).replace(/^\[|\]$/g, '') || 'localhost')
  const port = Number(url.port) || 5432
  const user = decodeURIComponent(url.username) || process.env.PGUSER || process.env.USER || 'postgres'
  const database = decodeURIComponent(url.pathname.slice(1)) || user
  const ssl = tlsOf(url, host, options.tls)
  for (const name of ['sslmode', 'sslrootcert', 'ssl']) url.searchParams.delete(name)
  return {
    place: {
      name: `${host}:${port}/${database}`,
      ...{ host, database, user, schema, pool, statementTimeoutMs, connectTimeoutMs },
    },
    config: {
      host,
      port,
      user,
      database,
      password: decodeURIComponent(url.password) || process.env.PGPASSWORD,
      ssl,
      max: pool,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      keepAlive: true,
      application_name: url.searchParams.get('application_name') ?? 'tool-hub',
    },
  }
}

function parseUrl(text: string): URL {
  const hint = 'Write it as postgres://USER:PASSWORD@HOST:5432/DATABASE, with %40 for an @ in the password.'
  try {
    // A socket has no host, and is in the parameter `host`.
    const url = new URL(text.replace(/^(\w+:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1localhost'))
    if (url.protocol === 'postgres:' || url.protocol === 'postgresql:') return url
  } catch {
    // Not with the text, which has the password in it.
    throw invalid('The URL of the store cannot be read.', hint)
  }
  throw invalid('The URL of the store does not begin with postgres://.', hint)
}

/** TLS is used for every server on another machine, unless the URL or the options say otherwise. */
function tlsOf(url: URL, host: string, tls: PostgresTls | false | undefined): PostgresTls | false {
  const mode = url.searchParams.get('sslmode')
  const ca = url.searchParams.get('sslrootcert')
  if (tls === false || (tls === undefined && mode === 'disable')) return false
  const verified = { ...(ca !== null && { ca: readCertificate(ca) }), rejectUnauthorized: true, ...tls }
  switch (mode) {
    case null:
      return tls === undefined && ca === null && isThisMachine(host) ? false : verified
    case 'disable':
    case 'require':
    case 'verify-ca':
    case 'verify-full':
      return verified
    case 'no-verify':
      return { ...verified, rejectUnauthorized: false }
  }
  throw invalid(
    `Unknown sslmode=${mode} in the URL of the store.`,
    'Use verify-full, no-verify (encrypted, but with any server that answers) or disable.',
  )
}

function isThisMachine(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ToolError('CONFIG_INVALID', `sslrootcert of the store cannot be read: ${messageOf(cause)}.`, {
      hint: 'Name a PEM file in the URL of the store.',
      cause,
    })
  }
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, { hint })
}

/** Types that `pg` returns as text: BIGINT, and NUMERIC, which is a sum of those. */
const NUMBERS: ReadonlySet<number> = new Set([20, 1700])

/** Creates the connections of a store; the first one is made when it is needed. */
export async function createPool({ place, config }: PostgresConnection): Promise<Pool> {
  const pg = await loadPg()
  const pool = new pg.Pool({
    ...config,
    types: {
      getTypeParser: (id: number, format?: 'text') =>
        NUMBERS.has(id) ? Number : (pg.types.getTypeParser(id, format) as (text: string) => unknown),
    } as PoolConfig['types'],
    async onConnect(client) {
      // A connection that is lost between two statements; the next one reports it.
      client.on('error', () => {})
      await client.query(sessionSettings(place))
    },
  })
  // A connection that is lost while nobody uses it; the pool has removed it.
  pool.on('error', () => {})
  return pool
}

/** A connection of the pool, for one piece of work. If no answer comes for `limitMs`, the connection is dead. */
export function toSession(client: PoolClient, limitMs: number): PostgresSession {
  return {
    query: (sql, values, name) => withLimit(client, { text: sql, values, name }, limitMs),
    release: (isBroken = false) => client.release(isBroken),
  }
}

async function withLimit(
  client: PoolClient,
  query: { readonly text: string; readonly values?: readonly unknown[]; readonly name?: string },
  limitMs: number,
): Promise<PostgresResult> {
  const timer = setTimeout(() => void client.end().catch(() => {}), limitMs)
  try {
    const { rows, rowCount } = await client.query({ ...query, values: query.values as unknown[] })
    return { rows, count: rowCount }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Nothing outside of the schema is found by its name. A process that is stopped in a transaction loses it before others
 * give up waiting for its locks. Commits are on disk before they are acknowledged, also if the server has it otherwise.
 */
function sessionSettings({ schema, statementTimeoutMs }: PostgresPlace): string {
  return `SET search_path TO "${schema}", pg_temp;
    SET statement_timeout TO ${statementTimeoutMs};
    SET idle_in_transaction_session_timeout TO ${Math.ceil(statementTimeoutMs / 2)};
    SET default_transaction_isolation TO 'read committed';
    SET client_min_messages TO warning;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`
}
