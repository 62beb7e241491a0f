import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { messageOf, ToolError } from '@tool-hub/core'
import { parseDatabaseUrl } from '@tool-hub/runtime/store'
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

/**
 * The settings of `pg`. They are spelled out because public declarations reach them, and programs without this optional
 * package must compile.
 */
export interface PostgresPoolSettings {
  host: string
  port: number
  user: string
  database: string
  password: string | undefined
  ssl: PostgresTls | false
  max: number
  connectionTimeoutMillis: number
  idleTimeoutMillis: number
  allowExitOnIdle: boolean
  keepAlive: boolean
  application_name: string
}

/** Where to connect, and the settings of `pg` for it. */
export interface PostgresConnection {
  readonly place: PostgresPlace
  readonly config: PostgresPoolSettings
}

const NAME = /^[a-z_][a-z0-9_]{0,47}$/

/** Reads the URL; nothing that it throws shows the password. */
export function parseConnection(options: PostgresConnectOptions): PostgresConnection {
  const { schema, pool, statementTimeoutMs, connectTimeoutMs } = options
  if (!NAME.test(schema) || schema.startsWith('pg_'))
    throw invalid(`Invalid schema name ${JSON.stringify(schema)} of the store.`, 'Use letters, digits and _: tool_hub.')
  const url = parseDatabaseUrl(options.url)
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
