import { randomBytes } from 'node:crypto'
import type { Channel, ChannelIo, ConsoleChannelOptions, OutgoingMessage } from '../../../contracts/messages.ts'
import { ToolError } from '../../../errors.ts'
import type { ChannelParts } from './channel-parts.ts'

/** How many messages the inbox keeps. */
const MOST_KEPT = 10_000

/** The inbox of the console: what people find there when they look. */
export function openConsole(_options: ConsoleChannelOptions, { host }: ChannelParts): Channel {
  return {
    kind: 'console',
    describe: () => 'the inbox of the console, for the people who run this hub',
    limits: { maxChars: 20_000, maxAttachments: 10 },
    canRehearse: true,
    async send(message, io) {
      const id = newId(io.now())
      await io.announce(shown(message))
      const attachments = message.attachments.map(({ ref, name, content }) => ({
        ref,
        name,
        bytes: content.byteLength,
      }))
      await host.store.inbox.add({ id, at: io.now(), ...wordsOf(message), ...originOf(io), attachments }, MOST_KEPT)
      host.tellChange('messages', id)
      return { id }
    },
    async edit(id, message, io) {
      await io.announce(shown(message))
      const words = { ...wordsOf(message), isUntrusted: io.isTainted }
      if (!(await host.store.inbox.edit(id, io.run, words, io.now()))) throw notOwn(id)
      host.tellChange('messages', id)
      return { id }
    },
  }
}

/** Grows with time, so that messages are in order by it. */
function newId(now: number): string {
  return `inbox-${now.toString(36).padStart(9, '0')}-${randomBytes(4).toString('hex')}`
}

function wordsOf({ title, text, level }: OutgoingMessage) {
  return { level, ...(title !== undefined && { title }), text }
}

function originOf({ caller, principal, run, callId, isTainted }: ChannelIo) {
  return { caller, ...(principal !== undefined && { principal }), run, callId, isUntrusted: isTainted }
}

function shown(message: OutgoingMessage) {
  return { type: 'inbox', body: JSON.stringify(wordsOf(message)) } as const
}

function notOwn(id: string): ToolError {
  return new ToolError('NOT_FOUND', `This run has no message ${JSON.stringify(id.slice(0, 100))} in the inbox.`, {
    hint: 'A run edits its own messages, by the messageId that sending them gave.',
  })
}
