import { count, defineStore, entity, flag, json, page, type Repository, run, transaction } from '@tool-hub/core/sql'
import type { InboxMessage, InboxStore } from './types.ts'

/** Messages to the people at the console; ids grow with time. */
const TABLES = `
CREATE TABLE inbox (
  id TEXT PRIMARY KEY,
  sent_at BIGINT NOT NULL,
  level TEXT NOT NULL,
  title TEXT,
  content TEXT NOT NULL,
  caller TEXT NOT NULL,
  principal TEXT,
  run TEXT NOT NULL,
  call_id TEXT NOT NULL,
  untrusted INTEGER NOT NULL,
  attachments TEXT NOT NULL,
  edited_at BIGINT,
  read_at BIGINT
);
`

const MESSAGES = entity<InboxMessage>('inbox', {
  id: 'id',
  at: 'sent_at',
  level: 'level',
  title: 'title',
  text: 'content',
  caller: 'caller',
  principal: 'principal',
  run: 'run',
  callId: 'call_id',
  isUntrusted: flag('untrusted'),
  attachments: json('attachments'),
  editedAt: 'edited_at',
  readAt: 'read_at',
})
const LIST = { select: `SELECT ${MESSAGES.columns} FROM inbox`, order: 'id DESC' }
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
    return (yield* page(LIST, [[`id < ?${isUnread}`, before]], limit)).map((row) => MESSAGES.read(row))
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
  migrations: { 8: TABLES },
  durable: { inbox: ['add', 'edit', 'markRead', 'remove'] },
  bounds: {},
})
