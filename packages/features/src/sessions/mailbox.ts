import { randomBytes } from 'node:crypto'
import { type FeatureHost, ToolError } from '@tool-hub/core'
import { OWNER_SENDER, ownerInbox, toMessage } from './describe-session.ts'
import type { SessionEvents } from './session-events.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { StoredMail, StoredSession } from './store-types.ts'
import { MAX_TEXT_CHARS, OWNER, type SendOutcome, type SessionMessage } from './types.ts'

/** Maximum number of unread messages in one inbox. */
const MAX_UNREAD = 1_000
/** Maximum number of messages that one read returns. */
const MAX_READ = 20
const MESSAGE_ID = /^message-[0-9a-f]{16}$/

/** A message to send. */
interface MessageDraft {
  readonly text: string
  readonly replyTo?: string
  readonly isTainted: boolean
}

/** A message that was sent. */
type Sent = Pick<StoredMail, 'id' | 'seq'>

/** The messages between sessions: stored before the recipient is notified, read once. */
export class Mailbox {
  readonly #host: Pick<FeatureHost, 'store' | 'clock' | 'redact'>
  readonly #events: SessionEvents
  readonly #registry: SessionRegistry

  constructor(host: Pick<FeatureHost, 'store' | 'clock' | 'redact'>, events: SessionEvents, registry: SessionRegistry) {
    this.#host = host
    this.#events = events
    this.#registry = registry
  }

  /** Sends a message to a session. */
  async send(sender: string, to: StoredSession, outgoing: MessageDraft): Promise<Sent> {
    assertReads(to)
    const sent = await this.#put({ inbox: to.id, sender, ...outgoing })
    this.#events.emit(to.id)
    return sent
  }

  /** Sends a message from a session to the owner, who reads it in the history of the session. */
  async sendToOwner(from: string, outgoing: MessageDraft): Promise<Sent> {
    const sent = await this.#put({ inbox: ownerInbox(from), sender: from, ...outgoing })
    this.#events.emit(from)
    return sent
  }

  sendAsOwner(to: StoredSession, outgoing: Omit<MessageDraft, 'isTainted'>): Promise<Sent> {
    return this.send(OWNER_SENDER, to, { ...outgoing, isTainted: false })
  }

  /** Returns unread messages of a session and marks them as read. */
  async take(session: string): Promise<readonly SessionMessage[]> {
    const taken = await this.#host.store.mail.take(session, { limit: MAX_READ, now: this.#host.clock.now() })
    return taken.map(toMessage)
  }

  async readAsOwner(session: string): Promise<void> {
    const wish = { limit: MAX_UNREAD, now: this.#host.clock.now() }
    await this.#host.store.mail.take(ownerInbox(session), wish)
  }

  /** Waits for the answer to a message until it arrives, the recipient ends, or the time is up. */
  async answer(
    sent: Sent,
    to: StoredSession,
    { from, waitMs, signal }: { readonly from: string; readonly waitMs: number; readonly signal?: AbortSignal },
  ): Promise<SendOutcome> {
    const inbox = from === OWNER_SENDER ? ownerInbox(to.id) : from
    const answerTo = { id: sent.id, seq: sent.seq, from: to.id }
    const base = { message: sent.id, session: to.id }
    const look = async (): Promise<SendOutcome | undefined> => {
      const now = await this.#registry.find(to.id)
      const { state = 'ended', reason } = now ?? {}
      const [mail] = await this.#host.store.mail.take(inbox, { limit: 1, now: this.#host.clock.now(), answerTo })
      if (mail) return { ...base, status: 'replied', reply: toMessage(mail), state }
      if (state === 'running') return undefined
      return { ...base, status: 'ended', state, ...(reason !== undefined && { reason }) }
    }
    const subjects = from === OWNER_SENDER ? [to.id] : [to.id, from]
    const outcome = await this.#events.until({ subjects, look, withinMs: waitMs, signal })
    return outcome ?? { ...base, status: 'timeout', state: 'running' }
  }

  async #put(outgoing: { inbox: string; sender: string } & MessageDraft): Promise<Sent> {
    const { inbox, sender, text, replyTo, isTainted } = outgoing
    if (text.length > MAX_TEXT_CHARS) throw tooLong(text.length)
    assertMessageId(replyTo)
    const id = `message-${randomBytes(8).toString('hex')}`
    const message = { id, inbox, sender, text: this.#host.redact(text), isTainted, sentAt: this.#host.clock.now() }
    const seq = await this.#host.store.mail.put(
      { ...message, ...(replyTo !== undefined && { replyTo }) },
      { maxUnread: MAX_UNREAD },
    )
    if (seq === undefined) throw full(inbox)
    return { id, seq }
  }
}

/** A run without a runner can be continued at any time. The reason of an end may be untrusted text, so it is not quoted. */
function assertReads({ id, state, runner }: StoredSession): void {
  if (state === 'running' || runner === undefined) return
  throw new ToolError('CONFLICT', `The session ${id} is over.`, {
    hint: 'See why with core/session.status, or start another one.',
  })
}

function assertMessageId(id: string | undefined): void {
  if (id === undefined || MESSAGE_ID.test(id)) return
  throw new ToolError('INPUT_SCHEMA_INVALID', 'replyTo is not the id of a message.', {
    hint: 'Use the id that came with the message, message-…, or leave it out.',
  })
}

function tooLong(chars: number): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `The message has ${chars} characters, at most ${MAX_TEXT_CHARS}.`, {
    hint: 'Write the long part to a file and name the file.',
  })
}

function full(inbox: string): ToolError {
  const whose = inbox.startsWith(OWNER_SENDER) ? OWNER : inbox
  return new ToolError('RATE_LIMITED', `${MAX_UNREAD} messages wait unread in the inbox of ${whose}.`, {
    hint: 'Wait until it has read some, then send again.',
  })
}
