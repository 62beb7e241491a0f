import { isOwnerAlive } from '../../disk/process-owner.ts'
import { ToolError } from '../../errors.ts'
import type { Ask, AskBrief, AskStore } from '../../store.ts'
import { assertMayAsk } from '../rules/assert-may-ask.ts'
import { compareIds } from '../rules/compare-ids.ts'
import { pageSize } from '../rules/page-size.ts'
import { ASK_COLUMNS, type AskRow, BRIEF_COLUMNS, type BriefRow, toAsk, toBrief } from './ask-row.ts'
import type { Connection } from './connection.ts'
import type { FileEvents } from './events.ts'
import { ANY_TIME, type Condition, filteredQuery } from './filtered-query.ts'
import { isDuplicate } from './store-error.ts'

/** As many asks of one call are looked through for one whose process is gone. */
const MOST_ADOPTABLE = 100
const STATES: readonly Ask['state'][] = ['waiting', 'answered', 'withdrawn', 'expired']

/** Asks in the file; each change is told to every process that watches. */
export function createAsks(connection: Connection, events: FileEvents, now: () => number): AskStore {
  const file = connection.statement(
    `INSERT INTO asks (id, kind, call_id, run, tool, caller, hash, request, asked_at, expires_at, owner, state, used)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 0)`,
  )
  const find = connection.statement<AskRow>(`SELECT ${ASK_COLUMNS} FROM asks WHERE id = ?`)
  const answer = connection.statement<AskRow>(
    `UPDATE asks SET state = 'answered', reply = ?, answered_by = ?, answered_via = ?, answered_at = ?
     WHERE id = ? AND state = 'waiting' AND expires_at >= ? RETURNING ${ASK_COLUMNS}`,
  )
  const withdraw = connection.statement<AskRow>(
    `UPDATE asks SET state = ? WHERE id = ? AND state = 'waiting' RETURNING ${ASK_COLUMNS}`,
  )
  const open = connection.statement<AskRow>(
    `SELECT ${ASK_COLUMNS} FROM asks WHERE hash = ? AND caller = ?
     AND ((state = 'waiting' AND expires_at >= ?) OR (state = 'answered' AND used = 0))
     ORDER BY asked_at DESC, id DESC LIMIT ?`,
  )
  const adopt = connection.statement<AskRow>(
    `UPDATE asks SET owner = ? WHERE id = ? AND owner = ?
     AND (state = 'waiting' OR (state = 'answered' AND used = 0)) RETURNING ${ASK_COLUMNS}`,
  )
  const leave = connection.statement<AskRow>(
    `UPDATE asks SET owner = ? WHERE id = ? AND state = 'waiting' RETURNING ${ASK_COLUMNS}`,
  )
  const use = connection.statement<AskRow>(
    `UPDATE asks SET used = 1 WHERE id = ? AND state = 'answered' AND used = 0 RETURNING ${ASK_COLUMNS}`,
  )
  const list = filteredQuery<AskRow>(connection, {
    select: `SELECT ${ASK_COLUMNS} FROM asks`,
    order: 'asked_at DESC, id DESC',
  })
  const waiting = connection.statement<{ readonly waiting: number }>(
    `SELECT count(*) AS waiting FROM asks WHERE caller = ? AND state = 'waiting' AND expires_at >= ?`,
  )
  // Everything that it tells is in the index of states: no ask is read for it, however large.
  const briefs = filteredQuery<BriefRow>(connection, {
    select: `SELECT ${BRIEF_COLUMNS} FROM asks`,
    order: 'asked_at DESC, id DESC',
  })

  /** Changes an ask and tells of it, or does neither. */
  const change = (at: number, work: () => AskRow | undefined): Ask | undefined => {
    const changed = connection.transaction(() => {
      const row = work()
      if (row) events.write({ topic: 'ask', body: JSON.stringify({ id: row.id, state: row.state }), at })
      return row
    })
    if (!changed) return undefined
    events.announce()
    return toAsk(changed)
  }
  const findAsk = (id: string) => {
    const row = find.get(id)
    return row && toAsk(row)
  }
  return {
    file(ask, limit) {
      const { id, kind, callId, run, tool, caller, hash, request, askedAt, expiresAt, owner } = ask
      try {
        change(askedAt, () => {
          if (limit) assertMayAsk(ask, waiting.get(caller, askedAt)!.waiting, limit)
          file.run(id, kind, callId, run, tool, caller, hash, request, askedAt, expiresAt, owner)
          return find.get(id)
        })
      } catch (error) {
        throw isDuplicate(error) ? new ToolError('CONFLICT', `The ask ${id} is filed already.`) : error
      }
    },
    answer(id, { reply, by, via, at }) {
      const won = change(at, () => answer.get(reply, by, via, at, id, at))
      if (won) return { won: true, ask: won }
      const ask = findAsk(id)
      return ask && { won: false, ask }
    },
    withdraw(id, state) {
      change(now(), () => withdraw.get(state, id))
    },
    adopt({ hash, caller, owner, now }) {
      for (const { id, owner: before } of open.all(hash, caller, now, MOST_ADOPTABLE)) {
        if (isOwnerAlive(before)) continue
        // Another process may have adopted or used it since the look.
        const adopted = change(now, () => adopt.get(owner, id, before))
        if (adopted) return adopted
      }
      return undefined
    },
    leave(id, owner) {
      change(now(), () => leave.get(owner, id))
    },
    use(id) {
      change(now(), () => use.get(id))
    },
    find: findAsk,
    list({ state, kind, before, limit } = {}) {
      const conditions: Condition[] = [
        ['state = ?', state],
        ['kind = ?', kind],
        ['asked_at < ?', before ?? ANY_TIME],
      ]
      return list(conditions, pageSize(limit)).map(toAsk)
    },
    briefs({ state, kind, caller, before, limit } = {}) {
      const conditions: Condition[] = [
        ['kind = ?', kind],
        ['caller = ?', caller],
        ['asked_at < ?', before ?? ANY_TIME],
      ]
      const rows = (state ? [state] : STATES).flatMap((each) =>
        briefs([['state = ?', each], ...conditions], pageSize(limit)),
      )
      return rows.map(toBrief).sort(newestFirst).slice(0, pageSize(limit))
    },
  }
}

function newestFirst(a: AskBrief, b: AskBrief): number {
  return b.askedAt - a.askedAt || compareIds(b.id, a.id)
}
