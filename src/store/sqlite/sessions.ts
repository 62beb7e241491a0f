import type { NewSession, SessionState, SessionStore, StoredSession } from '../../store-parts/sessions.ts'
import { pageSize } from '../rules/page-size.ts'
import type { Connection } from './connection.ts'
import { type Condition, filteredQuery } from './filtered-query.ts'

interface SessionRow {
  readonly seq: number
  readonly id: string
  readonly label: string | null
  readonly parent: string | null
  readonly root: string
  readonly depth: number
  readonly principal: string | null
  readonly root_principal: string
  readonly runner: string | null
  readonly task: string | null
  readonly limits: string | null
  readonly tainted: number
  readonly created_at: number
  readonly owner: string
  readonly state: string
  readonly reason: string | null
  readonly result: string | null
  readonly ended_at: number | null
}

const NEW_COLUMNS =
  'seq, id, label, parent, root, depth, principal, root_principal, runner, task, limits, tainted, created_at, owner'
const COLUMNS = `${NEW_COLUMNS}, state, reason, result, ended_at`

/** Sessions of agents in the file. */
export function createSessions(connection: Connection): SessionStore {
  const next = connection.statement<{ value: number }>(
    `UPDATE counters SET value = value + 1 WHERE name = 'agent_sessions' RETURNING value`,
  )
  const insert = connection.statement(
    `INSERT INTO agent_sessions (${NEW_COLUMNS}, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running') ON CONFLICT (id) DO NOTHING`,
  )
  const running = connection.statement<{ running: number }>(
    `SELECT count(*) AS running FROM agent_sessions WHERE root = ? AND state = 'running' AND runner IS NOT NULL`,
  )
  const find = connection.statement<SessionRow>(`SELECT ${COLUMNS} FROM agent_sessions WHERE id = ?`)
  const list = filteredQuery<SessionRow>(connection, {
    select: `SELECT ${COLUMNS} FROM agent_sessions`,
    order: 'seq DESC',
  })
  const end = connection.statement(
    `UPDATE agent_sessions SET state = ?, reason = ?, result = ?, ended_at = ?,
     tainted = CASE WHEN ? = 1 THEN 1 ELSE tainted END WHERE id = ? AND state = 'running'`,
  )
  const reopen = connection.statement(
    `UPDATE agent_sessions SET state = 'running', reason = NULL, ended_at = NULL, owner = ?
     WHERE id = ? AND runner IS NULL`,
  )
  const taint = connection.statement('UPDATE agent_sessions SET tainted = 1 WHERE id = ? AND tainted = 0')
  return {
    add: (session, limit) =>
      connection.transaction(() => {
        if (limit && running.get(session.root)!.running >= limit.mostRunning) return undefined
        const { value } = next.get()!
        return insert.run(value, ...columnsOf(session)) > 0 ? value : undefined
      }),
    find(id) {
      const row = find.get(id)
      return row && toSession(row)
    },
    list({ root, parent, label, rootPrincipal, state, before, createdBefore, limit }) {
      const conditions: Condition[] = [
        ['root = ?', root],
        ['parent = ?', parent],
        ['label = ?', label],
        ['root_principal = ?', rootPrincipal],
        ['state = ?', state],
        ['seq < ?', before],
        ['created_at < ?', createdBefore],
      ]
      return list(conditions, pageSize(limit)).map(toSession)
    },
    end: (id, { state, reason, result, isTainted, at }) =>
      end.run(state, reason, result, at, isTainted ? 1 : 0, id) > 0,
    reopen(id, owner) {
      reopen.run(owner, id)
    },
    taint(id) {
      taint.run(id)
    },
  }
}

function columnsOf(session: NewSession) {
  const { id, label, parent, root, depth, principal, rootPrincipal, runner, task, limits, createdAt, owner } = session
  const isTainted = session.isTainted ? 1 : 0
  return [id, label, parent, root, depth, principal, rootPrincipal, runner, task, limits, isTainted, createdAt, owner]
}

function toSession(row: SessionRow): StoredSession {
  const { seq, id, root, depth, owner } = row
  return {
    ...{ seq, id, root, depth, owner },
    rootPrincipal: row.root_principal,
    isTainted: row.tainted === 1,
    createdAt: row.created_at,
    state: row.state as SessionState,
    ...(row.label !== null && { label: row.label }),
    ...(row.parent !== null && { parent: row.parent }),
    ...(row.principal !== null && { principal: row.principal }),
    ...(row.runner !== null && { runner: row.runner }),
    ...(row.task !== null && { task: row.task }),
    ...(row.limits !== null && { limits: row.limits }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.result !== null && { result: row.result }),
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  }
}
