import { randomBytes } from 'node:crypto'
import { type Feature, type FeatureCall, type FeatureHost, ToolError } from '@tool-hub/core'
import { ChannelRegistry } from './channel-registry.ts'
import { type MessageOrigin, sendMessage, type Wish } from './send-message.ts'
import type { MessageHandle, MessageOutcome, MessageService, MessagesOptions } from './types.ts'

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
