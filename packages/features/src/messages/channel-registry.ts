import { randomBytes } from 'node:crypto'
import { didYouMean, type FeatureHost, messageOf, ToolError, type WebFetch } from '@tool-hub/core'
import type { Channel, ChannelIo, ChannelOptions, ConsoleChannelOptions, OutgoingMessage } from './channel.ts'
import { type ChannelContext, readReferences } from './channels/channel-settings.ts'
import { openDiscord } from './channels/discord.ts'
import { openSlack } from './channels/slack.ts'
import { openSmtp } from './channels/smtp.ts'
import { openTelegram } from './channels/telegram.ts'
import { openWebhook } from './channels/webhook.ts'
import { TIMEOUT_MS } from './deliver-message.ts'
import { CONSOLE_CHANNEL } from './recipients.ts'
import type { ChannelFacts, MessagesOptions } from './types.ts'

/** Maximum messages in the inbox. */
const MAX_KEPT = 10_000

/** An open channel, with its `fetch`. */
export interface OpenChannel {
  readonly channel: Channel
  readonly web: WebFetch
}

const NAME = /^[a-z][a-z0-9_-]{0,31}$/
const KINDS: ReadonlySet<string> = new Set(['webhook', 'slack', 'discord', 'telegram', 'smtp', 'console'])

/** The channels of a hub by name. Each is opened when it is first used; if that fails, it fails again at the next use. */
export class ChannelRegistry {
  readonly #host: FeatureHost
  readonly #given: ReadonlyMap<string, ChannelOptions | Channel>
  readonly #open = new Map<string, OpenChannel>()

  constructor({ channels = {} }: MessagesOptions, host: FeatureHost) {
    this.#host = host
    this.#given = new Map([[CONSOLE_CHANNEL, { kind: 'console' }], ...Object.entries(channels)])
    for (const [name, given] of this.#given) check(name, given)
  }

  /** Throws `NOT_FOUND` if the channel does not exist, `CONFIG_INVALID` if its configuration is incomplete. */
  find(name: string): OpenChannel {
    const open = this.#open.get(name)
    if (open) return open
    const given = this.#given.get(name)
    if (!given) throw unknown(name, [...this.#given.keys()])
    const channel = isOwn(given) ? given : openChannel(given, this.#partsOf(name))
    const { origins = [], timeoutMs = TIMEOUT_MS } = channel
    // Later than the timeout of the message, whose error is more specific.
    const opened = { channel, web: this.#host.webFetch({ origins, headersTimeoutMs: timeoutMs + 1_000 }) }
    this.#open.set(name, opened)
    return opened
  }

  facts(): ChannelFacts[] {
    return [...this.#given].map(([name, { kind }]) => {
      try {
        return factsOf(name, this.find(name).channel)
      } catch (error) {
        const hint = ToolError.is(error) ? ` ${error.fix.hint}` : ''
        const problem = this.#host.redact(`${messageOf(error)}${hint}`)
        return { name, kind, description: `a channel that is not ready`, can: [], problem }
      }
    })
  }

  #partsOf(name: string) {
    const host = this.#host
    return { name, host, references: readReferences(name, host), redact: (text: string) => host.redact(text) }
  }
}

/** Whether it is a channel of the owner, not a built-in one. */
function isOwn(given: ChannelOptions | Channel): given is Channel {
  return 'send' in given && typeof given.send === 'function'
}

function factsOf(name: string, channel: Channel): ChannelFacts {
  const { kind, limits, recipients } = channel
  const maxChars = limits?.maxChars
  return {
    name,
    kind,
    description: channel.describe?.() ?? `a channel of the kind ${kind}`,
    can: [
      'send',
      ...(channel.edit ? (['edit'] as const) : []),
      ...(channel.react ? (['react'] as const) : []),
      ...((limits?.maxAttachments ?? 0) > 0 ? (['attach'] as const) : []),
    ],
    ...(recipients && { recipients: recipients.hint }),
    ...(maxChars !== undefined && { maxChars }),
  }
}

function check(name: string, given: ChannelOptions | Channel): void {
  const why = problemOf(name, given)
  if (why === undefined) return
  throw new ToolError('CONFIG_INVALID', `${JSON.stringify(name)} in messages.channels ${why}.`, {
    fix: { key: 'messages', hint: 'docs/reference/messages.md shows the channels and what each needs.' },
  })
}

function problemOf(name: string, given: ChannelOptions | Channel): string | undefined {
  if (!NAME.test(name))
    return 'is not a valid name: use lowercase letters, digits, _ and -, at most 32, starting with a letter'
  if (typeof given !== 'object' || given === null) return 'is not a channel'
  const isConsole = !isOwn(given) && given.kind === 'console'
  if (isConsole !== (name === CONSOLE_CHANNEL)) return 'is not possible: only the channel console has the kind console'
  if (isOwn(given) || KINDS.has(given.kind)) return undefined
  return `has the kind ${JSON.stringify(given.kind)}; there are ${[...KINDS].join(', ')}`
}

function unknown(name: string, known: readonly string[]): ToolError {
  const near = didYouMean(name, known)
  return new ToolError('NOT_FOUND', `Unknown channel ${JSON.stringify(name.slice(0, 50))}.`, {
    fix: {
      key: 'messages',
      hint: `${near ? `${near} ` : ''}There are: ${known.join(', ')}. The owner adds one in messages.channels of tool-hub.yaml; docs/reference/messages.md shows how.`,
    },
  })
}

/** Opens a built-in channel; throws `CONFIG_INVALID` if an option is missing or invalid. */
function openChannel(options: ChannelOptions, parts: ChannelContext): Channel {
  const { rate, perDay, timeoutMs } = options
  return { ...openKind(options, parts), rate, perDay, timeoutMs }
}

function openKind(options: ChannelOptions, parts: ChannelContext): Channel {
  switch (options.kind) {
    case 'webhook':
      return openWebhook(options, parts)
    case 'slack':
      return openSlack(options, parts)
    case 'discord':
      return openDiscord(options, parts)
    case 'telegram':
      return openTelegram(options, parts)
    case 'smtp':
      return openSmtp(options, parts)
    case 'console':
      return openConsole(options, parts)
  }
}

/** The inbox of the console. */
export function openConsole(_options: ConsoleChannelOptions, { host }: ChannelContext): Channel {
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
      await host.store.inbox.add({ id, at: io.now(), ...wordsOf(message), ...originOf(io), attachments }, MAX_KEPT)
      host.emitChange('messages', id)
      return { id }
    },
    async edit(id, message, io) {
      await io.announce(shown(message))
      const words = { ...wordsOf(message), isUntrusted: io.isTainted }
      if (!(await host.store.inbox.edit(id, io.run, words, io.now()))) throw notOwn(id)
      host.emitChange('messages', id)
      return { id }
    },
  }
}

/** Ids grow with time, so that messages can be ordered by id. */
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
    hint: 'A run can edit only its own messages, with the messageId that send returned.',
  })
}
