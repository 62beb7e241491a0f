import { readFileSync } from 'node:fs'
import {
  type ConfigDocument,
  configError,
  type DatabaseOptions,
  type KeyPath,
  messageOf,
  type Secret,
  ToolError,
} from '@tool-hub/core'
import { duration, fillReferences, key, parseDuration, text, withoutUndefined } from '@tool-hub/core/config'
import { resolvePath } from '@tool-hub/sandbox/system'
import { z } from 'zod'

const tls = z.strictObject({
  ca: key(
    text,
    "PEM file of the authority that has signed the server's certificate. Default: the authorities of Node.",
  ),
  cert: key(text, 'PEM file of the certificate that this process shows.'),
  key: key(text, 'PEM file of its key.'),
  servername: key(text, "Name in the server's certificate. Default: the host of the URL."),
})

const URL_HELP =
  'postgres://USER:PASSWORD@HOST:5432/DATABASE. May contain ${env:NAME} and ${secret:name}, e.g. for the password.'

const database = z.strictObject({
  url: text.describe(`The database: ${URL_HELP}`),
  schema: key(text, 'Schema of its tables; several hubs can share a database with a schema each.', 'tool_hub'),
  pool: key(z.int().min(2).max(1_000), 'Maximum number of connections of one process.', 10),
  tls: key(
    z.union([z.literal(false), tls]),
    'How connections are encrypted; false does not. Default: encrypted and verified for servers on other machines.',
  ),
  statementTimeout: key(duration, 'Time limit of one statement.', '10s'),
})

/** `store`: the database that processes on several machines share. */
export const storeSchema = z.union([text, database])

/**
 * The database of a config, with its references filled in. Nothing that is thrown shows the URL, which may contain a
 * password.
 */
export async function toDatabase(
  document: ConfigDocument,
  written: z.output<typeof storeSchema>,
  { base, secrets = {} }: { readonly base: string; readonly secrets?: Readonly<Record<string, Secret>> },
): Promise<DatabaseOptions> {
  const isUrl = typeof written === 'string'
  const { url, schema, pool, tls, statementTimeout } = isUrl ? { url: written } : written
  const problem = (path: KeyPath, message: string, options: { readonly hint?: string; readonly cause: unknown }) =>
    configError(document.label, [{ path, message, position: document.locate(path) }], options)
  const filled = await resolveDatabase(url, isUrl ? 'store' : 'store.url', secrets).catch((error) => {
    const path = isUrl ? ['store'] : ['store', 'url']
    throw problem(path, messageOf(error), { hint: ToolError.is(error) ? error.fix.hint : undefined, cause: error })
  })
  const file = (name: 'ca' | 'cert' | 'key', path: string | undefined) => {
    if (path === undefined) return undefined
    try {
      return readFileSync(resolvePath(base, path), 'utf8')
    } catch (error) {
      throw problem(['store', 'tls', name], `cannot be read: ${messageOf(error)}`, { cause: error })
    }
  }
  return withoutUndefined<DatabaseOptions>({
    url: filled,
    schema,
    pool,
    tls: tls && {
      ...withoutUndefined({ ca: file('ca', tls.ca), cert: file('cert', tls.cert), key: file('key', tls.key) }),
      ...withoutUndefined({ servername: tls.servername }),
    },
    statementTimeoutMs: statementTimeout === undefined ? undefined : parseDuration(statementTimeout),
  })
}

/** The URL of a database with its references filled in. Throws CONFIG_INVALID, never with the URL. */
export async function resolveDatabase(
  written: string,
  where: string,
  secrets: Readonly<Record<string, Secret>> = {},
): Promise<string> {
  const filled = fillReferences(written, referencesFor(written, secrets), where)
  // A socket has no host, and is in the parameter `host`; other readers of the URL expect one.
  const url = filled.replace(/^(\w+:\/\/[^/?#]*@)(?=[/?#])/, '$1localhost')
  if (URL.canParse(url) && ['postgres:', 'postgresql:'].includes(new URL(url).protocol)) return url
  throw new ToolError('CONFIG_INVALID', `${where} is not a URL of a PostgreSQL database.`, {
    hint: 'Write postgres://USER:${env:DB_PASSWORD}@HOST:5432/DATABASE. In a password that stands in the URL, write @ as %40, / as %2F and # as %23.',
  })
}

/** Values inside of a URL are encoded: a password may contain any character. A reference to the whole URL is taken as it is. */
function referencesFor(url: string, secrets: Readonly<Record<string, Secret>>) {
  const encode = /^\$\{[^}]*\}$/.test(url) ? (value: string) => value : encodeURIComponent
  const env = Object.entries(process.env).map(([name, value]) => [name, value && encode(value)] as const)
  return {
    env: Object.fromEntries(env),
    secret: (name: string) => (Object.hasOwn(secrets, name) ? encode(secrets[name]!.value) : undefined),
  }
}
