import { lazyModule, ToolError } from '../../../core/index.ts'
import type { Channel, OutgoingMessage, SmtpChannelOptions } from '../channel.ts'
import type { ChannelContext } from './channel-settings.ts'
import { deliverMail, type MailServer } from './deliver-mail.ts'

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
