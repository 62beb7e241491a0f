import type { MailStore, StoredMail } from '../../store-parts/sessions.ts'
import { pageSize } from '../rules/page-size.ts'
import type { Connection } from './connection.ts'
import { ANY_TIME } from './filtered-query.ts'

interface MailRow {
  readonly seq: number
  readonly id: string
  readonly inbox: string
  readonly sender: string
  readonly content: string
  readonly reply_to: string | null
  readonly tainted: number
  readonly sent_at: number
  readonly read_at: number | null
}

const COLUMNS = 'seq, id, inbox, sender, content, reply_to, tainted, sent_at, read_at'

/** What sessions write to each other, in the file. */
export function createMail(connection: Connection): MailStore {
  const next = connection.statement<{ value: number }>(
    `UPDATE counters SET value = value + 1 WHERE name = 'agent_mail' RETURNING value`,
  )
  const insert = connection.statement(
    `INSERT INTO agent_mail (seq, id, inbox, sender, content, reply_to, tainted, sent_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const unread = connection.statement<{ unread: number }>(
    'SELECT count(*) AS unread FROM agent_mail WHERE inbox = ? AND read_at IS NULL',
  )
  const oldest = connection.statement<MailRow>(
    `SELECT ${COLUMNS} FROM agent_mail WHERE inbox = ? AND read_at IS NULL ORDER BY seq LIMIT ?`,
  )
  const answers = connection.statement<MailRow>(
    `SELECT ${COLUMNS} FROM agent_mail WHERE inbox = ? AND read_at IS NULL AND sender = ? AND seq > ?
     AND (reply_to = ? OR reply_to IS NULL) ORDER BY seq LIMIT ?`,
  )
  const read = connection.statement('UPDATE agent_mail SET read_at = ? WHERE seq = ?')
  const before = connection.statement<MailRow>(
    `SELECT ${COLUMNS} FROM agent_mail WHERE (inbox = ? OR sender = ?) AND seq < ? ORDER BY seq DESC LIMIT ?`,
  )
  const after = connection.statement<MailRow>(
    `SELECT ${COLUMNS} FROM agent_mail WHERE (inbox = ? OR sender = ?) AND seq > ? ORDER BY seq LIMIT ?`,
  )
  return {
    put: ({ id, inbox, sender, text, replyTo, isTainted, sentAt }, { mostUnread }) =>
      connection.transaction(() => {
        if (unread.get(inbox)!.unread >= mostUnread) return undefined
        const { value } = next.get()!
        insert.run(value, id, inbox, sender, text, replyTo, isTainted ? 1 : 0, sentAt)
        return value
      }),
    take(inbox, { limit, now, answerTo }) {
      // Readers look again and again; while there is nothing they must not take turns at writing.
      if (unread.get(inbox)!.unread === 0) return []
      return connection.transaction(() => {
        const rows = answerTo
          ? answers.all(inbox, answerTo.from, answerTo.seq, answerTo.id, pageSize(limit))
          : oldest.all(inbox, pageSize(limit))
        for (const { seq } of rows) read.run(now, seq)
        return rows.map((row) => toMail({ ...row, read_at: now }))
      })
    },
    unread: (inbox) => unread.get(inbox)!.unread,
    list({ session, before: end = ANY_TIME, after: start, limit }) {
      if (start !== undefined) return after.all(session, session, start, pageSize(limit)).map(toMail)
      return before.all(session, session, end, pageSize(limit)).reverse().map(toMail)
    },
  }
}

function toMail({ seq, id, inbox, sender, content, reply_to, tainted, sent_at, read_at }: MailRow): StoredMail {
  return {
    ...{ seq, id, inbox, sender, text: content },
    isTainted: tainted === 1,
    sentAt: sent_at,
    ...(reply_to !== null && { replyTo: reply_to }),
    ...(read_at !== null && { readAt: read_at }),
  }
}
