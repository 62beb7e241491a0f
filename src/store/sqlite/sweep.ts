import { SESSION_AGE_MS } from '../../store-parts/sessions.ts'
import { ASK_AGE_MS, EVENT_AGE_MS } from '../rules/ages.ts'
import type { Connection } from './connection.ts'

/** Takes away what has expired, in all tables at once. */
export function createSweep(connection: Connection): (now: number) => void {
  const expired = [
    `DELETE FROM idempotency_keys WHERE expires_at <= ? AND state = 'finished'`,
    'DELETE FROM budgets WHERE expires_at <= ?',
    'DELETE FROM rates WHERE full_at <= ?',
    'DELETE FROM grants WHERE expires_at <= ?',
    'DELETE FROM sessions WHERE expires_at <= ?',
    'DELETE FROM slots WHERE leased_until <= ?',
  ].map((sql) => connection.statement(sql))
  const asks = connection.statement(`DELETE FROM asks WHERE expires_at < ? OR (asked_at < ? AND state <> 'waiting')`)
  const events = connection.statement('DELETE FROM events WHERE created_at < ?')
  const sessions = connection.statement('DELETE FROM agent_sessions WHERE ended_at < ?')
  const mail = connection.statement('DELETE FROM agent_mail WHERE sent_at < ?')
  return (now) =>
    connection.transaction(() => {
      for (const statement of expired) statement.run(now)
      asks.run(now - ASK_AGE_MS, now - ASK_AGE_MS)
      events.run(now - EVENT_AGE_MS)
      sessions.run(now - SESSION_AGE_MS)
      mail.run(now - SESSION_AGE_MS)
    })
}
