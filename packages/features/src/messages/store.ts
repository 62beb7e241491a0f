import {
  column,
  count,
  defineStore,
  defineTable,
  type Entity,
  optional,
  type Repository,
  run,
  transaction,
} from '@tool-hub/core/sql'
import type { InboxMessage, InboxStore } from './types.ts'

/** Messages to the people at the console; ids grow with time. */
const MESSAGES = defineTable('inbox', 8, {
  id: column.text({ key: true }),
  at: column.bigint({ name: 'sent_at' }),
  level: column.text<InboxMessage['level']>(),
  title: optional.text(),
  text: column.text({ name: 'content' }),
  caller: column.text(),
  principal: optional.text(),
  run: column.text(),
  callId: column.text(),
  isUntrusted: column.flag({ name: 'untrusted' }),
  attachments: column.json<InboxMessage['attachments']>(),
  editedAt: optional.bigint(),
  readAt: optional.bigint(),
}) satisfies Entity<InboxMessage>
const TRIM = 'DELETE FROM inbox WHERE id <= (SELECT id FROM inbox ORDER BY id DESC LIMIT 1 OFFSET ?)'
const EDIT = `UPDATE inbox SET level = ?, title = ?, content = ?, untrusted = CASE WHEN ? = 1 THEN 1 ELSE untrusted END,
 edited_at = ?, read_at = NULL WHERE id = ? AND run = ?`
/** After every id: they begin with a letter. */
const LAST = '~'

/** Messages to the people at the console. */
const inbox: Repository<InboxStore> = {
  add: (message, most) =>
    transaction(function* () {
      yield* run(`${MESSAGES.insert} ON CONFLICT (id) DO NOTHING`, ...MESSAGES.values(message))
      yield* run(TRIM, most)
    }),
  *edit(id, runId, { level, title, text, isUntrusted }, at) {
    return (yield* run(EDIT, level, title, text, isUntrusted ? 1 : 0, at, id, runId)) > 0
  },
  *list({ unread = false, before = LAST, limit }) {
    const isUnread = unread ? ' AND read_at IS NULL' : ''
    return yield* MESSAGES.page('id DESC', [[`id < ?${isUnread}`, before]], limit)
  },
  countUnread: () => count('inbox WHERE read_at IS NULL'),
  *markRead(ids, at) {
    if (!ids) return yield* run('UPDATE inbox SET read_at = ? WHERE read_at IS NULL', at)
    return yield* transaction(function* () {
      let marked = 0
      for (const id of ids)
        marked += yield* run('UPDATE inbox SET read_at = ? WHERE id = ? AND read_at IS NULL', at, id)
      return marked
    })
  },
  *remove(id) {
    return (yield* run('DELETE FROM inbox WHERE id = ?', id)) > 0
  },
}

/** The inbox of the people at the console. */
export const messagesStore = defineStore<{ inbox: InboxStore }>({
  repositories: { inbox },
  tables: [MESSAGES],
  durable: { inbox: ['add', 'edit', 'markRead', 'remove'] },
  bounds: {},
})
