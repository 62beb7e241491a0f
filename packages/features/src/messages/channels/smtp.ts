import type { Duplex } from 'node:stream'
import { lazyModule, messageOf, ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Channel, OutgoingMessage, SmtpChannelOptions } from '../channel.ts'
import { refused, unknownFate } from '../send-errors.ts'
import type { ChannelContext } from './channel-settings.ts'

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'

const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)

const LOCAL = /^[a-z0-9_+'=-]+(?:\.[a-z0-9_+'=-]+)*$/

const NAMED = /^([^<>"\p{Cc}]{1,100}?)\s*<([^<>\s]{1,320})>$/u

const loadMailComposer = lazyModule(() => import('nodemailer/lib/mail-composer'))

const NO_TITLE = 'Message from tool-hub'

const MAX_RECIPIENTS = 20
const IMPLICIT_PORT = 465
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/

/** A mail server. Its certificate is verified, and mails go only to addresses that the owner allows. */
export function openSmtp(options: SmtpChannelOptions, parts: ChannelContext): Channel {
  const { name, references, host } = parts
  const from = readMailbox(name, 'from', references.read('from', options.from))
  const replyTo = options.replyTo === undefined ? undefined : readMailbox(name, 'replyTo', options.replyTo)
  const usual = (options.to ?? []).map((text) => readMailbox(name, 'to', references.read('to', text)).address)
  const patterns = [...usual, ...(options.recipients ?? [])]
  if (patterns.length === 0) throw nobody(name)
  const server = serverOf(options, parts, from.address.split('@')[1]!)
  return {
    kind: 'smtp',
    describe: () => `mail from ${from.address}`,
    recipients: {
      most: MAX_RECIPIENTS,
      ...(usual.length > 0 && { usual }),
      admits: (address) => isMailAddress(address) && admitsAddress(patterns, address),
      hint: patterns.join(', '),
    },
    limits: { maxChars: 100_000, maxAttachments: 10 },
    canRehearse: true,
    async send(message, io) {
      const mime = await composeMail(message, { from, ...(replyTo && { replyTo }), callId: io.callId, at: io.now() })
      const mail = { from: from.address, to: message.to, mime }
      await io.announce({ type: 'mail', from: mail.from, to: mail.to, mime: mime.toString('utf8') })
      const socket = await host.dial({ host: server.host, port: server.port, signal: io.signal })
      const { rejected } = await deliverMail(socket, server, mail, io.signal)
      return { ...(rejected.length > 0 && { rejected }) }
    },
  }
}

function serverOf(
  options: SmtpChannelOptions,
  { name, references, redact }: ChannelContext,
  domain: string,
): MailServer {
  const { port, user, password, ca } = options
  const tls = options.tls ?? (port === IMPLICIT_PORT ? 'implicit' : 'starttls')
  const host = references.read('host', options.host)
  if (tls === 'none' && password !== undefined && !LOOPBACK.test(host)) {
    throw new ToolError('CONFIG_INVALID', `The channel ${name} would send its password without encryption.`, {
      hint: 'Leave out tls: none, or the password.',
    })
  }
  return {
    channel: name,
    host,
    port: port ?? (tls === 'implicit' ? IMPLICIT_PORT : 587),
    tls,
    name: domain,
    redact,
    ...(user !== undefined && { user: references.read('user', user) }),
    ...(password !== undefined && { password: references.readSecret('password', password) }),
    ...(ca !== undefined && { ca: references.read('ca', ca) }),
  }
}

function nobody(name: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The channel ${name} may write to nobody.`, {
    hint: 'Name addresses in to or recipients: anna@example.org, *@example.org.',
  })
}

/** Sender, id and date of a mail. */
interface MailFacts {
  readonly from: Mailbox
  readonly replyTo?: Mailbox
  readonly callId: string
  readonly at: number
}

/** Encodes a mail; the text of a message cannot add headers. */
export async function composeMail(message: OutgoingMessage, { from, replyTo, callId, at }: MailFacts): Promise<Buffer> {
  const { default: MailComposer } = await loadMailComposer()
  const { to, title = NO_TITLE, text, attachments } = message
  const composer = new MailComposer({
    from,
    ...(replyTo && { replyTo }),
    to: to.map((address) => ({ name: '', address })),
    subject: title,
    text,
    date: new Date(at),
    // The same for every attempt, so that mail servers can drop duplicates.
    messageId: `<${callId.replaceAll(/[^A-Za-z0-9.-]/g, '-')}@${from.address.split('@')[1]}>`,
    headers: { 'auto-submitted': 'auto-generated' },
    attachments: attachments.map(({ name, content, mediaType }) => ({
      filename: name,
      content: Buffer.from(content),
      contentType: mediaType,
    })),
    newline: '\r\n',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

/** A mail address with a display name. */
interface Mailbox {
  readonly name: string
  readonly address: string
}

/** Whether a text is one plain address, in lower case: nothing that a header or an envelope could read in another way. */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  return at > 0 && local.length <= 64 && domain.length <= 253 && LOCAL.test(local) && DOMAIN.test(domain)
}

/** Reads `hub@example.org` or `Tool Hub <hub@example.org>`, as an owner writes it. */
export function readMailbox(channel: string, key: string, text: string): Mailbox {
  const [, name = '', inBrackets] = NAMED.exec(text.trim()) ?? []
  const address = (inBrackets ?? text).trim().toLowerCase()
  if (isMailAddress(address)) return { name: name.trim(), address }
  throw new ToolError('CONFIG_INVALID', `${key} of the channel ${channel} is not a mail address.`, {
    hint: 'Write hub@example.org or Tool Hub <hub@example.org>.',
  })
}

/** Whether an address is one of those that an owner names: `anna@example.org`, `*@example.org`, `*@*.example.org`, `*`. */
export function admitsAddress(patterns: readonly string[], address: string): boolean {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  return patterns.some((pattern) => {
    const wanted = pattern.trim().toLowerCase()
    if (wanted === '*' || wanted === address) return true
    const from = wanted.lastIndexOf('@')
    const [wantedLocal, wantedDomain] = [wanted.slice(0, from), wanted.slice(from + 1)]
    if (from < 1 || (wantedLocal !== '*' && wantedLocal !== local)) return false
    return wantedDomain.startsWith('*.') ? domain.endsWith(wantedDomain.slice(1)) : wantedDomain === domain
  })
}

const loadSmtpConnection = lazyModule(() => import('nodemailer/lib/smtp-connection'))

/** How to connect to a mail server. */
interface MailServer {
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
interface Mail {
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
async function deliverMail(
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
