import { randomBytes } from 'node:crypto'
import type { AbilityHost } from '../../contracts/ability.ts'
import type { MessageDesk, MessageOutcome } from '../../contracts/messages.ts'
import { ToolError } from '../../errors.ts'
import type { ChannelShelf } from './channel-shelf.ts'
import type { Origin, Wish } from './send-message.ts'

const USUAL_PAGE = 100
const MOST_PAGE = 1_000

/** What the desk is made of. */
export interface MessageDeskParts {
  readonly shelf: ChannelShelf
  readonly host: AbilityHost
  readonly send: (wish: Wish, origin: Origin) => Promise<MessageOutcome>
}

/** What the owner does with messages; nobody is asked, and what is sent goes on record. */
export function createMessageDesk({ shelf, host, send }: MessageDeskParts): MessageDesk {
  const { inbox } = host.store
  return {
    channels: async () => shelf.facts(),
    send: async (message, { by, run, dryRun }) =>
      send({ action: 'send', channel: message.channel, to: message.to, message, dryRun }, ownersOrigin(host, by, run)),
    async inbox({ unread, before, limit = USUAL_PAGE } = {}) {
      const most = Math.min(Math.max(1, limit), MOST_PAGE)
      const found = await inbox.list({ unread, before, limit: most + 1 })
      const messages = found.slice(0, most)
      const next = found.length > most ? messages.at(-1)!.id : undefined
      return { messages, unread: await inbox.countUnread(), ...(next !== undefined && { next }) }
    },
    async markRead(ids) {
      const count = await inbox.markRead(ids, host.clock.now())
      if (count > 0) host.tellChange('messages', ids?.[0] ?? 'all')
      return count
    },
    async remove(id) {
      const isGone = await inbox.remove(id)
      if (isGone) host.tellChange('messages', id)
      return isGone
    },
  }
}

function ownersOrigin(host: AbilityHost, by: string, run: string | undefined): Origin {
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
