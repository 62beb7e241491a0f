import { messageOf, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'

/** What errors name: the database without its password, and how it is used. */
export interface PostgresPlace {
  /** Host, port and database, such as `db.example:5432/hub`. */
  readonly name: string
  readonly host: string
  readonly database: string
  readonly user: string
  readonly schema: string
  readonly pool: number
  readonly statementTimeoutMs: number
  readonly connectTimeoutMs: number
}

/** The code of an error that PostgreSQL has sent; `undefined` for any other. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error && 'severity' in error && 'code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Whether the connection cannot be used any more: it is lost, or the server is about to end. */
export function isLost(error: unknown): boolean {
  if (ToolError.is(error)) return false
  const state = sqlState(error)
  if (state === undefined) return error instanceof Error
  return state.startsWith('08') || /^57P0[1-5]$/.test(state) || state === '25P03'
}

/** Whether the work was rolled back because of work that was done concurrently. */
export function isConflict(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40001' || state === '40P01'
}

/** The error for a change that was sent, and whose answer was lost. */
export function unknownOutcome(cause: unknown): ToolError {
  return new ToolError(
    'RECORDS_UNAVAILABLE',
    'The connection to PostgreSQL was lost while a change was committed: it may have happened, or not.',
    {
      hint: 'Look whether it has happened before you do it again; with an idempotency key, the same call is safe.',
      retryable: false,
      details: { postgres: messageOf(cause), outcome: 'unknown' },
      cause,
    },
  )
}

/**
 * The error of PostgreSQL for people, with what to do. Before the first connection, whatever is wrong is a matter of the
 * configuration; later the server may come back by itself. An unknown error is returned as it is.
 */
export function toPostgresError(error: unknown, place: PostgresPlace, isStarting: boolean): unknown {
  if (ToolError.is(error)) return error
  const state = sqlState(error)
  const details = { place: place.name, postgres: messageOf(error), ...(state !== undefined && { sqlState: state }) }
  const make = (code: 'CONFIG_INVALID' | 'RECORDS_UNAVAILABLE' | 'CONFLICT' | 'INPUT_SCHEMA_INVALID') => {
    const retryable = code === 'RECORDS_UNAVAILABLE' || code === 'CONFLICT'
    return (message: string, hint: string) => new ToolError(code, message, { hint, retryable, details, cause: error })
  }
  const wrong = make('CONFIG_INVALID')
  const unavailable = make(isStarting ? 'CONFIG_INVALID' : 'RECORDS_UNAVAILABLE')
  /** A process that has started waits for the server; one that starts ends, so only the hint can help. */
  const away: Make = (message, hint) =>
    unavailable(message, isStarting ? hint || 'Look at the log of the server.' : [hint, RETURNS].join(' ').trim())
  const busy = make('RECORDS_UNAVAILABLE')
  const said = `PostgreSQL at ${place.name}`
  switch (state) {
    case undefined:
      return withoutAnswer(error, place, { wrong, away, busy })
    case '28P01':
    case '28000':
      return wrong(`${said} refuses the user ${place.user}: ${messageOf(error)}.`, refusalHint(messageOf(error)))
    case '3D000':
      return wrong(
        `${said} has no database ${place.database}.`,
        `Create it: createdb ${place.database}; or correct the URL of the store.`,
      )
    case '42501':
      return wrong(
        `${said} does not permit the user ${place.user} to use the schema ${place.schema}: ${messageOf(error)}.`,
        `As the owner of the database: GRANT CREATE ON DATABASE "${place.database}" TO "${place.user}"; or, if there are no workers: CREATE SCHEMA IF NOT EXISTS "${place.schema}"; GRANT USAGE, CREATE ON SCHEMA "${place.schema}" TO "${place.user}"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${place.schema}" TO "${place.user}".`,
      )
    case '42P01':
    case '42703':
    case '3F000':
      return wrong(
        `The schema ${place.schema} of ${said} is not complete: ${messageOf(error)}.`,
        'Put back a backup, or give the store another schema.',
      )
    case '25006':
      return unavailable(
        `${said} takes no changes: it is a standby, or read-only.`,
        'Name the primary server in the URL of the store.',
      )
    case '53300':
      return busy(
        `${said} has no connection left: ${messageOf(error)}.`,
        'Raise max_connections of the server, or lower the pool of the store.',
      )
    case '57014':
    case '55P03':
      return busy(
        `${said} did not answer within ${place.statementTimeoutMs} ms.`,
        'Try again; if it stays so, look at the load and the locks of the server (pg_stat_activity).',
      )
    case '40001':
    case '40P01':
      return make('CONFLICT')(`${said} could not serialize the change: ${messageOf(error)}.`, 'Try again in a moment.')
    case '54000':
      return make('INPUT_SCHEMA_INVALID')(
        'A name or key in the store is too long for PostgreSQL.',
        'Use names and keys of at most 2,000 bytes.',
      )
  }
  if (isLost(error)) return away(`${said} ended the connection: ${messageOf(error)}.`, '')
  if (state.startsWith('53'))
    return busy(`${said} ran out of resources: ${messageOf(error)}.`, 'Free disk space or memory of the server.')
  if (state.startsWith('22'))
    return make('INPUT_SCHEMA_INVALID')(
      `PostgreSQL does not take a value: ${messageOf(error)}.`,
      'Use whole numbers for times and counts, and text in Unicode.',
    )
  return error
}

/** What to do about a refused user, by the message of the server. */
function refusalHint(message: string): string {
  if (message.includes('no encryption'))
    return 'The server may demand TLS: set store.tls, with the certificate of its authority in tls.ca; otherwise correct the user in the URL, or the pg_hba.conf of the server.'
  if (message.includes('client certificate'))
    return 'Name the certificate of this process and its key in store.tls: tls.cert and tls.key.'
  return 'Correct user and password in the URL of the store, or the pg_hba.conf of the server.'
}

const RETURNS = 'Try again in a moment: the store connects by itself when the server is there.'
const BAD_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL/

type Make = (message: string, hint: string) => ToolError

/** The error if no answer of the server came: it is not there, or what is between is in the way. */
function withoutAnswer(
  error: unknown,
  place: PostgresPlace,
  { wrong, away, busy }: { readonly wrong: Make; readonly away: Make; readonly busy: Make },
): unknown {
  if (!(error instanceof Error)) return error
  const errno = errnoOf(error)
  const said = `PostgreSQL at ${place.name}`
  if (errno === 'ENOTFOUND' || errno === 'EAI_AGAIN')
    return away(
      `The host ${place.host} of the store has no address.`,
      'Correct the host in the URL of the store; in a password, write @ as %40, / as %2F and # as %23.',
    )
  if (errno === 'ECONNREFUSED' || errno === 'ENOENT' || errno === 'EACCES')
    return away(
      `No PostgreSQL answers at ${place.name} (${errno}).`,
      'Start the server, or correct the URL of the store.',
    )
  if (errno === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return wrong(
      `The certificate of ${said} is for another host: ${error.message}.`,
      'Use a host that the certificate names in the URL, or set tls.servername to a name in it.',
    )
  if (errno.startsWith('ERR_OSSL'))
    return wrong(
      `The certificates of the store cannot be used: ${error.message}.`,
      'Name PEM files in tls.ca, tls.cert and tls.key; tls.key is the key of tls.cert.',
    )
  if (BAD_CERTIFICATE.test(errno))
    return wrong(
      `The certificate of ${said} is not trusted: ${error.message}.`,
      'Give the store the certificate of its authority: tls.ca, or sslrootcert=FILE in the URL.',
    )
  if (error.message.includes('does not support SSL'))
    return wrong(
      `${said} does not support TLS.`,
      'Turn on ssl on the server; if the network between is private, add ?sslmode=disable to the URL.',
    )
  if (error.message === 'timeout exceeded when trying to connect')
    return busy(
      `All ${place.pool} connections of the store were busy for ${place.connectTimeoutMs} ms.`,
      'Try again; if it stays so, raise the pool of the store, or look for slow statements (pg_stat_activity).',
    )
  if (/timeout/i.test(error.message))
    return away(
      `${said} did not answer within ${place.connectTimeoutMs} ms.`,
      'Check that the server runs, and that the network and firewalls let this machine reach it.',
    )
  if (error.message.includes('client password must be a')) {
    const hint =
      'Write it into the URL of the store: postgres://USER:PASSWORD@HOST/DATABASE; check that no variable is empty.'
    return wrong(`${said} requires a password for the user ${place.user}, and the store has none.`, hint)
  }
  if (/password|SASL|SCRAM/.test(error.message))
    return wrong(
      `${said} refuses the user ${place.user}: ${error.message}.`,
      'Correct user and password in the URL of the store.',
    )
  return away(`The connection to ${said} was lost: ${error.message}.`, '')
}
