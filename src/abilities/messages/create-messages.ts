import type { Ability, AbilityCall, AbilityHost } from '../../contracts/ability.ts'
import type { MessageDesk, MessageHandle, MessagesOptions } from '../../contracts/messages.ts'
import { ToolError } from '../../errors.ts'
import { ChannelShelf } from './channel-shelf.ts'
import { createMessageDesk } from './message-desk.ts'
import { type Origin, sendMessage, type Wish } from './send-message.ts'

/** How agents reach people: by channels that the owner names, and by the inbox of the console. */
export function createMessages(options: MessagesOptions, host: AbilityHost): Ability<MessageHandle, MessageDesk> {
  const shelf = new ChannelShelf(options, host)
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  const send = (wish: Wish, origin: Origin) => {
    const sending = sendMessage(wish, origin, { shelf, host, closing: closing.signal })
    underWay.add(sending)
    const forget = () => underWay.delete(sending)
    sending.then(forget, forget)
    return sending
  }
  return {
    handle: (call) => handleOf(call, shelf, send),
    desk: createMessageDesk({ shelf, host, send }),
    async close() {
      closing.abort(new ToolError('ABORTED', 'The hub is closed.'))
      await Promise.allSettled(underWay)
    },
  }
}

type Send = (wish: Wish, origin: Origin) => ReturnType<typeof sendMessage>

/** What one call may do with messages. */
function handleOf(call: AbilityCall, shelf: ChannelShelf, send: Send): MessageHandle {
  const origin = (): Origin => ({
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
    channels: async () => shelf.facts(),
    send: async (message, { dryRun } = {}) =>
      send({ action: 'send', channel: message.channel, to: message.to, message, dryRun }, origin()),
    edit: async (messageId, message, { dryRun } = {}) =>
      send({ action: 'edit', channel: message.channel, to: message.to, message, messageId, dryRun }, origin()),
    react: async ({ channel, to, messageId, emoji }, { dryRun } = {}) =>
      send({ action: 'react', channel, to, messageId, emoji, dryRun }, origin()),
  }
}
