import type { OutgoingMessage } from '../../../../contracts/messages.ts'
import { lazyModule } from '../../../../disk/lazy-module.ts'
import type { Mailbox } from './mail-address.ts'

const loadMailComposer = lazyModule(() => import('nodemailer/lib/mail-composer'))

/** Who a mail is from, and how it is known. */
export interface MailFacts {
  readonly from: Mailbox
  readonly replyTo?: Mailbox
  readonly callId: string
  readonly at: number
}

const NO_TITLE = 'Message from tool-hub'

/** The whole mail as it goes over the wire; addresses are plain ones, and no text of the message becomes a header of its own. */
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
    // The same for every try of this message: mail servers that look at it drop the second one.
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
