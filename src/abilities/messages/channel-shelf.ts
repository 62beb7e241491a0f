import type { AbilityHost } from '../../contracts/ability.ts'
import { CONSOLE_CHANNEL } from '../../contracts/message-target.ts'
import type { Channel, ChannelFacts, ChannelOptions, MessagesOptions } from '../../contracts/messages.ts'
import { messageOf, ToolError } from '../../errors.ts'
import { didYouMean } from '../../names.ts'
import type { WebFetch } from '../../source.ts'
import { openChannel } from './open-channel.ts'
import { readReferences } from './read-references.ts'
import { TIMEOUT_MS } from './with-deadline.ts'

/** A channel that is ready, with its way out. */
export interface OpenChannel {
  readonly channel: Channel
  readonly web: WebFetch
}

const NAME = /^[a-z][a-z0-9_-]{0,31}$/
const KINDS: ReadonlySet<string> = new Set(['webhook', 'slack', 'discord', 'telegram', 'smtp', 'console'])

/** The channels of a hub by name; each is opened when it is first used, and one that cannot be says why each time. */
export class ChannelShelf {
  readonly #host: AbilityHost
  readonly #given: ReadonlyMap<string, ChannelOptions | Channel>
  readonly #open = new Map<string, OpenChannel>()

  constructor({ channels = {} }: MessagesOptions, host: AbilityHost) {
    this.#host = host
    this.#given = new Map([[CONSOLE_CHANNEL, { kind: 'console' }], ...Object.entries(channels)])
    for (const [name, given] of this.#given) check(name, given)
  }

  /** NOT_FOUND when there is no such channel, CONFIG_INVALID when it lacks something. */
  find(name: string): OpenChannel {
    const open = this.#open.get(name)
    if (open) return open
    const given = this.#given.get(name)
    if (!given) throw unknown(name, [...this.#given.keys()])
    const channel = isOwn(given) ? given : openChannel(given, this.#partsOf(name))
    const { origins = [], timeoutMs = TIMEOUT_MS } = channel
    // The deadline of the message comes first: it says what it means for it.
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

/** Written by the owner, not chosen from the built-in ones. */
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
    fix: { key: 'messages', hint: 'docs/messages.md shows the channels and what each needs.' },
  })
}

function problemOf(name: string, given: ChannelOptions | Channel): string | undefined {
  if (!NAME.test(name)) return 'is no name: use small letters, digits, _ and -, at most 32, a letter first'
  if (typeof given !== 'object' || given === null) return 'is not a channel'
  const isConsole = !isOwn(given) && given.kind === 'console'
  if (isConsole !== (name === CONSOLE_CHANNEL)) return 'is not possible: the kind console has the name console, alone'
  if (isOwn(given) || KINDS.has(given.kind)) return undefined
  return `has the kind ${JSON.stringify(given.kind)}; there are ${[...KINDS].join(', ')}`
}

function unknown(name: string, known: readonly string[]): ToolError {
  const near = didYouMean(name, known)
  return new ToolError('NOT_FOUND', `There is no channel ${JSON.stringify(name.slice(0, 50))}.`, {
    fix: {
      key: 'messages',
      hint: `${near ? `${near} ` : ''}There are: ${known.join(', ')}. The owner adds one in messages.channels of tool-hub.yaml; docs/messages.md shows how.`,
    },
  })
}
