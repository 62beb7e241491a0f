import type { InboxLevel, InboxStore, StoredMessage } from '../../store-parts/inbox.ts'
import { pageSize } from '../rules/page-size.ts'
import type { Connection } from './connection.ts'

interface MessageRow {
  readonly id: string
  readonly sent_at: number
  readonly level: string
  readonly title: string | null
  readonly content: string
  readonly caller: string
  readonly principal: string | null
  readonly run: string
  readonly call_id: string
  readonly untrusted: number
  readonly attachments: string
  readonly edited_at: number | null
  readonly read_at: number | null
}

const COLUMNS =
  'id, sent_at, level, title, content, caller, principal, run, call_id, untrusted, attachments, edited_at, read_at'
/** After every id: they begin with a letter. */
const LAST = '~'

/** Messages to the people at the console, in the file. */
export function createInbox(connection: Connection): InboxStore {
  const add = connection.statement(
    `INSERT INTO inbox (id, sent_at, level, title, content, caller, principal, run, call_id, untrusted, attachments)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  )
  const trim = connection.statement(
    'DELETE FROM inbox WHERE id <= (SELECT id FROM inbox ORDER BY id DESC LIMIT 1 OFFSET ?)',
  )
  const edit = connection.statement(
    `UPDATE inbox SET level = ?, title = ?, content = ?, untrusted = CASE WHEN ? = 1 THEN 1 ELSE untrusted END,
     edited_at = ?, read_at = NULL WHERE id = ? AND run = ?`,
  )
  const all = connection.statement<MessageRow>(`SELECT ${COLUMNS} FROM inbox WHERE id < ? ORDER BY id DESC LIMIT ?`)
  const unread = connection.statement<MessageRow>(
    `SELECT ${COLUMNS} FROM inbox WHERE id < ? AND read_at IS NULL ORDER BY id DESC LIMIT ?`,
  )
  const count = connection.statement<{ readonly unread: number }>(
    'SELECT COUNT(*) AS unread FROM inbox WHERE read_at IS NULL',
  )
  const readOne = connection.statement('UPDATE inbox SET read_at = ? WHERE id = ? AND read_at IS NULL')
  const readAll = connection.statement('UPDATE inbox SET read_at = ? WHERE read_at IS NULL')
  const remove = connection.statement('DELETE FROM inbox WHERE id = ?')
  return {
    add(message, most) {
      const { id, at, level, title, text, caller, principal, run, callId, isUntrusted, attachments } = message
      connection.transaction(() => {
        const words = [level, title ?? null, text] as const
        const origin = [caller, principal ?? null, run, callId, isUntrusted ? 1 : 0] as const
        add.run(id, at, ...words, ...origin, JSON.stringify(attachments))
        trim.run(most)
      })
    },
    edit: (id, run, { level, title, text, isUntrusted }, at) =>
      edit.run(level, title ?? null, text, isUntrusted ? 1 : 0, at, id, run) > 0,
    list({ unread: isUnread = false, before = LAST, limit }) {
      return (isUnread ? unread : all).all(before, pageSize(limit)).map(toMessage)
    },
    countUnread: () => count.get()!.unread,
    markRead(ids, at) {
      if (!ids) return readAll.run(at)
      return connection.transaction(() => ids.reduce((sum, id) => sum + readOne.run(at, id), 0))
    },
    remove: (id) => remove.run(id) > 0,
  }
}

function toMessage(row: MessageRow): StoredMessage {
  return {
    id: row.id,
    at: row.sent_at,
    level: row.level as InboxLevel,
    ...(row.title !== null && { title: row.title }),
    text: row.content,
    caller: row.caller,
    ...(row.principal !== null && { principal: row.principal }),
    run: row.run,
    callId: row.call_id,
    isUntrusted: row.untrusted === 1,
    attachments: JSON.parse(row.attachments) as StoredMessage['attachments'],
    ...(row.edited_at !== null && { editedAt: row.edited_at }),
    ...(row.read_at !== null && { readAt: row.read_at }),
  }
}
