import type { Duplex } from 'node:stream'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import { lazyModule, messageOf, ToolError } from '../../../core/index.ts'
import { escapeLine } from '../../../lib/index.ts'
import { refused, unknownFate } from '../send-errors.ts'

const loadSmtpConnection = lazyModule(() => import('nodemailer/lib/smtp-connection'))

/** How to connect to a mail server. */
export interface MailServer {
  readonly channel: string
  readonly host: string
  readonly port: number
  readonly tls: 'starttls' | 'implicit' | 'none'
  readonly user?: string
  readonly password?: string
  readonly ca?: string
  /** The name of this host in EHLO. */
  readonly name: string
  readonly redact: (text: string) => string
}

/** The envelope of a mail, and its content. */
export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  readonly mime: Buffer
}

type Options = NonNullable<ConstructorParameters<typeof SMTPConnection>[0]>

const MAX_REPLY_BYTES = 65_536
const MAX_WORDS_LENGTH = 300
// The signal ends it earlier; the library needs some values.
const MAX_MS = 300_000

/** Sends a mail over an open connection until the signal aborts. Returns the recipients that were refused. */
export async function deliverMail(
  socket: Duplex,
  server: MailServer,
  mail: Mail,
  signal: AbortSignal,
): Promise<{ readonly rejected: readonly string[] }> {
  const { default: Connection } = await loadSmtpConnection()
  const connection = new Connection(optionsOf(socket, server))
  const stopped = stopOf(signal)
  // Without this, a late error would be an unhandled rejection.
  const broken = new Promise<never>((_, reject) => connection.on('error', reject))
  broken.catch(() => {})
  const step = <T>(begin: (done: (error?: Error | null, value?: T) => void) => void): Promise<T> => {
    const finished = new Promise<T>((resolve, reject) =>
      begin((error, value) => (error ? reject(error) : resolve(value as T))),
    )
    return Promise.race([finished, broken, stopped.promise])
  }
  let hasBegun = false
  try {
    await step((done) => connection.connect(done))
    await signIn(connection, server, step)
    hasBegun = true
    const sent = await step<{ rejected?: unknown[] }>((done) =>
      connection.send({ from: mail.from, to: [...mail.to], size: mail.mime.byteLength }, mail.mime, done as never),
    )
    connection.quit()
    return { rejected: (sent.rejected ?? []).map(String) }
  } catch (error) {
    signal.throwIfAborted()
    throw toMailError(error, server, hasBegun)
  } finally {
    stopped.end()
    if (signal.aborted) socket.destroy()
    connection.close()
  }
}

type Step = <T>(begin: (done: (error?: Error | null, value?: T) => void) => void) => Promise<T>

async function signIn(connection: SMTPConnection, { channel, host, user, password }: MailServer, step: Step) {
  if (user === undefined || password === undefined) return
  if (!connection.allowsAuth) {
    throw new ToolError('UPSTREAM_ERROR', `The mail server ${host} of the channel ${channel} offers no sign-in.`, {
      hint: 'Leave out user and password, or use the port that takes them.',
      retryable: false,
    })
  }
  await step((done) => connection.login({ credentials: { user, pass: password } } as never, done as never))
}

function optionsOf(socket: Duplex, { host, port, tls, name, ca }: MailServer): Options {
  return {
    connection: socket as NonNullable<Options['connection']>,
    host,
    port,
    name,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment has no effect.
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    maxResponseSize: MAX_REPLY_BYTES,
    connectionTimeout: MAX_MS,
    greetingTimeout: MAX_MS,
    socketTimeout: MAX_MS,
    logger: false,
  }
}

function stopOf(signal: AbortSignal) {
  let end = () => {}
  const promise = new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    end = () => signal.removeEventListener('abort', stop)
  })
  promise.catch(() => {})
  return { promise, end }
}

/** A response of the server is a definite refusal; if the connection ends during a mail, the delivery is unknown. */
function toMailError(error: unknown, { channel, redact }: MailServer, hasBegun: boolean): unknown {
  if (ToolError.is(error)) return error
  const { responseCode, response, code } = error as { responseCode?: number; response?: string; code?: string }
  const words = escapeLine(redact(response ?? messageOf(error)).trim()).slice(0, MAX_WORDS_LENGTH)
  if (responseCode !== undefined) return refused({ channel, status: responseCode, words })
  const said = response === undefined ? undefined : words
  if (hasBegun && code !== 'EENVELOPE' && code !== 'EMESSAGE') return unknownFate(channel, words, error, said)
  return new ToolError('UPSTREAM_ERROR', `The mail server of the channel ${channel} cannot be used: ${words}.`, {
    hint: 'Nothing was sent. tool-hub messages test CHANNEL says what is wrong.',
    ...(said !== undefined && { details: { words: said } }),
    cause: error,
  })
}
