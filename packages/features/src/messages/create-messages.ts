import { randomBytes } from 'node:crypto'
import {
  type Feature,
  type FeatureCall,
  type FeatureHost,
  type RateBucket,
  type RateStore,
  ToolError,
} from '@tool-hub/core'
import type { Channel, ChannelBounds, ChannelIo, Delivery, OutgoingMessage, SentRequest } from './channel.ts'
import { ChannelRegistry } from './channel-registry.ts'
import { createChannelIo, deliverMessage, type Errand, TIMEOUT_MS, withDeadline } from './deliver-message.ts'
import { checkWords, readAttachments } from './message-content.ts'
import { checkRecipients, messageTargets, normaliseRecipient } from './recipients.ts'
import type { MessageHandle, MessageOutcome, MessageService, MessagesOptions, NewMessage } from './types.ts'

const USUAL_PAGE = 100

const MAX_PAGE = 1_000

/** How agents reach people: channels that the owner configures, and the inbox of the console. */
export function createMessages(options: MessagesOptions, host: FeatureHost): Feature<MessageHandle, MessageService> {
  const registry = new ChannelRegistry(options, host)
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  const send = (wish: Wish, origin: MessageOrigin) => {
    const sending = sendMessage(wish, origin, { registry, host, closing: closing.signal })
    underWay.add(sending)
    const forget = () => underWay.delete(sending)
    sending.then(forget, forget)
    return sending
  }
  return {
    handle: (call) => handleOf(call, registry, send),
    service: createMessageService({ registry, host, send }),
    async close() {
      closing.abort(new ToolError('ABORTED', 'The hub is closed.'))
      await Promise.allSettled(underWay)
    },
  }
}

type Send = (wish: Wish, origin: MessageOrigin) => ReturnType<typeof sendMessage>

/** `ctx.messages` of one call. */
function handleOf(call: FeatureCall, registry: ChannelRegistry, send: Send): MessageHandle {
  const origin = (): MessageOrigin => ({
    callId: call.callId,
    run: call.run,
    caller: call.caller,
    principal: call.principal,
    isTainted: call.isTainted,
    signal: call.signal(),
    permits: (target) => call.permits('message', target),
    refuseDenied(target) {
      const answer = call.allows('message', target)
      if (answer.ok || answer.effect !== 'deny') return
      throw new ToolError('POLICY_DENIED', `A message that names nobody goes to ${target}, too: ${answer.why}.`, {
        hint: 'Name a recipient that the rules allow.',
      })
    },
    beforeEffect: () => call.beforeEffect(),
    readArtifact: (ref, maxBytes) => call.readArtifact(ref, { maxBytes }),
    notice: (text) => call.notice(text),
    markUntrusted: () => call.markUntrusted(),
  })
  return {
    channels: async () => registry.facts(),
    send: async (message, { dryRun } = {}) =>
      send({ action: 'send', channel: message.channel, to: message.to, message, dryRun }, origin()),
    edit: async (messageId, message, { dryRun } = {}) =>
      send({ action: 'edit', channel: message.channel, to: message.to, message, messageId, dryRun }, origin()),
    react: async ({ channel, to, messageId, emoji }, { dryRun } = {}) =>
      send({ action: 'react', channel, to, messageId, emoji, dryRun }, origin()),
  }
}

interface MessageServiceOptions {
  readonly registry: ChannelRegistry
  readonly host: FeatureHost
  readonly send: (wish: Wish, origin: MessageOrigin) => Promise<MessageOutcome>
}

/** `hub.messages`: sends without approval; messages are recorded. */
function createMessageService({ registry, host, send }: MessageServiceOptions): MessageService {
  const { inbox } = host.store
  return {
    channels: async () => registry.facts(),
    send: async (message, { by, run, dryRun }) =>
      send({ action: 'send', channel: message.channel, to: message.to, message, dryRun }, ownersOrigin(host, by, run)),
    async inbox({ unread, before, limit = USUAL_PAGE } = {}) {
      const most = Math.min(Math.max(1, limit), MAX_PAGE)
      const found = await inbox.list({ unread, before, limit: most + 1 })
      const messages = found.slice(0, most)
      const next = found.length > most ? messages.at(-1)!.id : undefined
      return { messages, unread: await inbox.countUnread(), ...(next !== undefined && { next }) }
    },
    async markRead(ids) {
      const count = await inbox.markRead(ids, host.clock.now())
      if (count > 0) host.emitChange('messages', ids?.[0] ?? 'all')
      return count
    },
    async remove(id) {
      const isGone = await inbox.remove(id)
      if (isGone) host.emitChange('messages', id)
      return isGone
    },
  }
}

function ownersOrigin(host: FeatureHost, by: string, run: string | undefined): MessageOrigin {
  return {
    callId: `owner-${randomBytes(8).toString('hex')}`,
    run: run ?? 'owner',
    caller: by,
    isTainted: false,
    signal: new AbortController().signal,
    permits() {},
    refuseDenied() {},
    beforeEffect: (targets) => host.recordChange({ by, change: 'message-sent', subject: targets.join(', ') }),
    async readArtifact(ref, maxBytes) {
      if (run !== undefined) return host.artifact(run, ref, { maxBytes })
      throw new ToolError('INPUT_SCHEMA_INVALID', 'Attachments are artifacts of a run.', { hint: 'Name the run.' })
    },
    notice: (text) => host.warn(text),
    markUntrusted() {},
  }
}

const USUAL_RATE = { perSecond: 10 / 60, burst: 10 }

const DAY_S = 86_400

const MAX_EMOJI_CHARS = 16
const ID = /^[^\p{Cc}\p{Cs}]{1,100}$/u

/** A request to send, edit or react. */
type Wish = { readonly channel: string; readonly to?: readonly string[]; readonly dryRun?: boolean } & (
  | { readonly action: 'send'; readonly message: NewMessage }
  | { readonly action: 'edit'; readonly message: NewMessage; readonly messageId: string }
  | { readonly action: 'react'; readonly messageId: string; readonly emoji: string }
)

/** Who sends: a call, or the owner. */
interface MessageOrigin extends Pick<ChannelIo, 'callId' | 'run' | 'caller' | 'principal' | 'isTainted' | 'signal'> {
  /** Throws if policy does not allow this target. */
  permits(target: string): void
  /** Throws only if policy denies this target. */
  refuseDenied(target: string): void
  beforeEffect(targets: readonly string[]): Promise<void>
  readArtifact(ref: string, maxBytes: number): Promise<Uint8Array>
  notice(text: string): void
  markUntrusted(): void
}

/** What sending needs of the hub. */
interface SendContext {
  readonly registry: ChannelRegistry
  readonly host: FeatureHost
  readonly closing: AbortSignal
}

/** Thrown to end a dry run when something would be sent. */
class Rehearsed extends Error {
  readonly request: SentRequest

  constructor(request: SentRequest) {
    super('a dry run')
    this.request = request
  }
}

/** Checks a message and sends it through its channel, within policy and limits; recorded before it is sent. */
async function sendMessage(wish: Wish, origin: MessageOrigin, parts: SendContext): Promise<MessageOutcome> {
  const { channel: name, dryRun = false } = wish
  const { host, registry, closing } = parts
  const { channel, web } = registry.find(name)
  assertCan(wish.action, name, channel)
  const named = [...new Set((wish.to ?? []).map(normaliseRecipient))]
  const targets = messageTargets(name, named)
  if (!dryRun) for (const target of targets) origin.permits(target)
  const to = checkRecipients(named, channel.recipients, name)
  // Naming no recipient must not bypass a rule about the usual ones.
  if (!dryRun && named.length === 0 && to.length > 0)
    for (const target of messageTargets(name, to)) origin.refuseDenied(target)
  const errand = await prepare(wish, to, channel, { origin, host })
  if (!dryRun) await takeTurn(name, channel, { rates: host.store.rates, now: host.clock.now() })
  const announce = announcer(dryRun, () => origin.beforeEffect(targets))
  const deadline = {
    timeoutMs: channel.timeoutMs ?? TIMEOUT_MS,
    signals: [origin.signal, closing],
    clock: host.clock,
    channel: name,
  }
  const facts = { channel: name, kind: channel.kind, targets }
  try {
    const delivery = await withDeadline(deadline, (signal) => {
      const io = createChannelIo({ ...ioFacts(origin), channel: name, signal, host, web, announce })
      return deliverMessage(errand, channel, io, host.clock)
    })
    return { ...facts, ...outcomeOf(delivery) }
  } catch (error) {
    if (error instanceof Rehearsed) return { ...facts, request: error.request }
    // The error message contains text of the service.
    if (ToolError.is(error) && error.details?.words) origin.markUntrusted()
    throw error
  }
}

/** Called before anything is sent: ends a dry run, otherwise records the message once. */
function announcer(dryRun: boolean, beforeEffect: () => Promise<void>): ChannelIo['announce'] {
  let recording: Promise<void> | undefined
  return async (request) => {
    if (dryRun) throw new Rehearsed(request)
    recording ??= beforeEffect()
    await recording
  }
}

/** The request for the channel: without known secrets, within all limits. */
async function prepare(
  wish: Wish,
  to: readonly string[],
  channel: Channel,
  { origin, host }: { readonly origin: MessageOrigin; readonly host: FeatureHost },
): Promise<Errand> {
  if (wish.action === 'react') {
    const { text: emoji } = checkWords({ text: host.redact(wish.emoji) }, { maxChars: MAX_EMOJI_CHARS }, wish.channel)
    return { action: 'react', to, messageId: wish.messageId, emoji }
  }
  const { title, text, level = 'info', attachments = [] } = wish.message
  const limits = channel.limits ?? {}
  if (wish.action === 'edit' && attachments.length > 0) {
    throw new ToolError('INPUT_SCHEMA_INVALID', 'An edit takes no attachments.', {
      hint: 'Send them as a new message.',
    })
  }
  let hasSecrets = false
  const redact = (said: string) => {
    const clean = host.redact(said)
    hasSecrets ||= clean !== said
    return clean
  }
  // Redacts the text as it will be sent: a secret may span several lines.
  const lines = text.replaceAll('\r\n', '\n')
  const words = { ...(title !== undefined && { title: redact(title) }), text: redact(lines) }
  const named = attachments.map(({ ref, name }) => ({ ref, ...(name !== undefined && { name: redact(name) }) }))
  if (hasSecrets) origin.notice('Secrets were taken out of the message.')
  const checked = checkWords(words, limits, wish.channel)
  const read = (ref: string, maxBytes: number) => origin.readArtifact(ref, maxBytes)
  const files = await readAttachments(named, limits, { channel: wish.channel, read })
  const message: OutgoingMessage = { to, level, ...checked, attachments: files }
  return wish.action === 'send' ? { action: 'send', message } : { action: 'edit', message, messageId: wish.messageId }
}

function ioFacts({ callId, run, caller, principal, isTainted }: MessageOrigin) {
  return { callId, run, caller, isTainted, ...(principal !== undefined && { principal }) }
}

/** The outcome for the caller; an invalid id of the service is dropped. */
function outcomeOf({ id, rejected = [] }: Delivery) {
  const hasId = typeof id === 'string' && ID.test(id)
  return { ...(hasId && { messageId: id }), ...(rejected.length > 0 && { rejected: rejected.map(String) }) }
}

function assertCan(action: Wish['action'], name: string, channel: Channel): void {
  if (channel[action]) return
  const can = (['send', 'edit', 'react'] as const).filter((each) => channel[each])
  throw new ToolError('INPUT_SCHEMA_INVALID', `The channel ${name} (${channel.kind}) cannot ${action}.`, {
    hint: `It can ${can.join(', ')}. Send a new message instead.`,
  })
}

/** Counts one message of a channel, over all processes with this store; throws `RATE_LIMITED` above the limit. */
export async function takeTurn(
  channel: string,
  { rate = USUAL_RATE, perDay }: ChannelBounds,
  { rates, now }: { readonly rates: RateStore; readonly now: number },
): Promise<void> {
  const { perSecond, burst = Math.max(1, perSecond) } = rate
  const buckets: RateBucket[] = [
    { bucket: `message:${channel}`, perSecond, burst },
    ...(perDay === undefined ? [] : [{ bucket: `message-day:${channel}`, perSecond: perDay / DAY_S, burst: perDay }]),
  ]
  const outcome = await rates.take(buckets, now)
  if (outcome.ok) return
  const isDay = outcome.bucket.startsWith('message-day:')
  const bound = isDay ? `${perDay} messages a day` : `bursts of ${burst} messages, ${round(perSecond * 60)} a minute`
  const retryAfterMs = outcome.waitMs
  const message = `The channel ${channel} takes ${bound}; wait ${retryAfterMs} ms. Nothing was sent.`
  throw new ToolError('RATE_LIMITED', message, {
    fix: {
      key: 'messages',
      hint: `Put several things into one message, or have the owner raise the ${isDay ? 'perDay' : 'rate'} of the channel.`,
    },
    details: { retryAfterMs },
  })
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}
