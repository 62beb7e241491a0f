import type { Channel, SmtpChannelOptions } from '../../../contracts/messages.ts'
import { ToolError } from '../../../errors.ts'
import type { ChannelParts } from './channel-parts.ts'
import { composeMail } from './mail/compose-mail.ts'
import { deliverMail, type MailServer } from './mail/deliver-mail.ts'
import { admitsAddress, isMailAddress, readMailbox } from './mail/mail-address.ts'

const MOST_RECIPIENTS = 20
const IMPLICIT_PORT = 465
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/

/** A mail server. The certificate is checked, and a mail goes only to addresses that the owner named. */
export function openSmtp(options: SmtpChannelOptions, parts: ChannelParts): Channel {
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
      most: MOST_RECIPIENTS,
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

function serverOf(options: SmtpChannelOptions, { name, references, redact }: ChannelParts, domain: string): MailServer {
  const { port, user, password, ca } = options
  const tls = options.tls ?? (port === IMPLICIT_PORT ? 'implicit' : 'starttls')
  const host = references.read('host', options.host)
  if (tls === 'none' && password !== undefined && !LOOPBACK.test(host)) {
    throw new ToolError('CONFIG_INVALID', `The channel ${name} would send its password in the clear.`, {
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
