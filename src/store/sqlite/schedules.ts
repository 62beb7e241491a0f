import { ToolError } from '../../errors.ts'
import type { NewScheduleRun, Overlap, ScheduleStore, StoredScheduleRun } from '../../store-parts/schedules.ts'
import { pageSize } from '../rules/page-size.ts'
import { duplicateSchedule, tooManySchedules } from '../rules/schedule-refusals.ts'
import type { Connection } from './connection.ts'
import { filteredQuery } from './filtered-query.ts'
import { RUN_COLUMNS, type RunRow, SCHEDULE_COLUMNS, type ScheduleRow, toRun, toSchedule } from './schedule-row.ts'
import { isDuplicate } from './store-error.ts'

/** Schedules in the file. */
export function createSchedules(connection: Connection): ScheduleStore {
  const insert = connection.statement(
    `INSERT INTO schedules (id, principal, name, body, state, reason, due_at, next_at, version, created_at, runs)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const count = connection.statement<{ held: number }>('SELECT COUNT(*) AS held FROM schedules WHERE principal = ?')
  const oldestDone = connection.statement<{ id: string }>(
    `SELECT id FROM schedules WHERE principal = ? AND state = 'done' AND id NOT IN (
       SELECT schedule FROM schedule_runs WHERE active = 1
     ) ORDER BY created_at, id LIMIT 1`,
  )
  const find = connection.statement<ScheduleRow>(`SELECT ${SCHEDULE_COLUMNS} FROM schedules WHERE id = ?`)
  const list = filteredQuery<ScheduleRow>(connection, {
    select: `SELECT ${SCHEDULE_COLUMNS} FROM schedules`,
    order: 'name, principal',
  })
  const save = connection.statement(
    `UPDATE schedules SET body = ?, state = ?, reason = ?, due_at = ?, next_at = ?, version = version + 1
     WHERE id = ? AND version = ?`,
  )
  const remove = connection.statement('DELETE FROM schedules WHERE id = ?')
  const removeRuns = connection.statement('DELETE FROM schedule_runs WHERE schedule = ?')
  const due = connection.statement<ScheduleRow>(
    `SELECT ${SCHEDULE_COLUMNS} FROM schedules WHERE next_at <= ? ORDER BY next_at, id LIMIT ?`,
  )
  const next = connection.statement<{ next_at: number | null }>('SELECT MIN(next_at) AS next_at FROM schedules')
  const move = connection.statement(
    `UPDATE schedules SET state = ?, reason = ?, due_at = ?, next_at = ?, last_at = ?, runs = runs + ?, version = version + 1
     WHERE id = ? AND version = ?`,
  )
  const runs = createRuns(connection)
  const drop = (id: string) => {
    removeRuns.run(id)
    return remove.run(id) > 0
  }
  return {
    ...runs.store,
    add(schedule, { most }) {
      const { id, principal, name, body, state, reason, dueAt, nextAt, version, createdAt } = schedule
      connection.transaction(() => {
        const { held } = count.get(principal)!
        const done = held < most ? undefined : oldestDone.get(principal)
        if (held >= most && !done) throw tooManySchedules(held, most)
        if (done) drop(done.id)
        try {
          insert.run(id, principal, name, body, state, reason, dueAt, nextAt, version, createdAt, schedule.runs)
        } catch (error) {
          throw isDuplicate(error) ? duplicateSchedule(name) : error
        }
      })
    },
    find(id) {
      const row = find.get(id)
      return row && toSchedule(row)
    },
    list: ({ principal, name, limit } = {}) =>
      list(
        [
          ['principal = ?', principal],
          ['name = ?', name],
        ],
        pageSize(limit),
      ).map(toSchedule),
    save: ({ id, version, body, state, reason, dueAt, nextAt }) =>
      save.run(body, state, reason, dueAt, nextAt, id, version) === 1,
    remove: (id) => connection.transaction(() => drop(id)),
    due: (now, limit) => due.all(now, limit).map(toSchedule),
    nextAt: () => next.get()?.next_at ?? undefined,
    fire({ id, version, state, reason, dueAt, nextAt, at, runs: fired, overlap }) {
      return connection.transaction(() => {
        const times = fired.filter(({ status }) => status === 'waiting').length
        if (move.run(state, reason, dueAt, nextAt, at, times, id, version) === 0) return undefined
        return runs.put(fired, overlap)
      })
    },
    addRun: (run, overlap) =>
      connection.transaction(() => {
        if (!find.get(run.schedule)) throw new ToolError('NOT_FOUND', 'The schedule is not there any more.')
        return runs.put([run], overlap)[0]!
      }),
  }
}

/** What became of the times; `put` belongs into a transaction of the caller's. */
function createRuns(connection: Connection) {
  const nextSeq = connection.statement<{ value: number }>(
    `UPDATE counters SET value = value + 1 WHERE name = 'schedule-runs' RETURNING value`,
  )
  const insert = connection.statement(
    `INSERT INTO schedule_runs (id, schedule, seq, due_at, status, active, missed, untrusted, owner, leased_until)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
  )
  const countActive = connection.statement<{ active: number }>(
    'SELECT COUNT(*) AS active FROM schedule_runs WHERE schedule = ? AND active = 1',
  )
  const find = connection.statement<RunRow>(`SELECT ${RUN_COLUMNS} FROM schedule_runs WHERE id = ?`)
  const earlier = connection.statement<{ id: string }>(
    `SELECT id FROM schedule_runs WHERE schedule = ? AND active = 1 AND id <> ? AND (status = 'running' OR seq < ?) LIMIT 1`,
  )
  const begin = connection.statement(
    `UPDATE schedule_runs SET status = 'running', run_id = ?, started_at = ?, leased_until = ?
     WHERE id = ? AND owner = ? AND status = 'waiting'`,
  )
  const end = connection.statement(
    `UPDATE schedule_runs SET status = ?, active = 0, ended_at = ?, summary = ?, error = ?, untrusted = ?
     WHERE id = ? AND owner = ? AND (active = 1 OR status = 'interrupted')`,
  )
  const endOf = connection.statement('UPDATE schedules SET last_status = ? WHERE id = ?')
  const forget = connection.statement(
    `DELETE FROM schedule_runs WHERE schedule = ? AND active = 0 AND seq <= (
       SELECT seq FROM schedule_runs WHERE schedule = ? ORDER BY seq DESC LIMIT 1 OFFSET ?
     )`,
  )
  const renew = connection.statement('UPDATE schedule_runs SET leased_until = ? WHERE owner = ? AND active = 1')
  const takeOver = connection.statement(
    `UPDATE schedule_runs SET owner = ?, leased_until = ? WHERE id = ? AND owner = ? AND status = 'waiting'`,
  )
  const active = connection.statement<RunRow>(
    `SELECT ${RUN_COLUMNS} FROM schedule_runs WHERE active = 1 ORDER BY seq LIMIT ?`,
  )
  const list = filteredQuery<RunRow>(connection, {
    select: `SELECT ${RUN_COLUMNS} FROM schedule_runs`,
    order: 'seq DESC',
  })
  const findRun = (id: string) => {
    const row = find.get(id)
    return row && toRun(row)
  }
  const put = (runs: readonly NewScheduleRun[], { policy, mostActive }: Overlap): StoredScheduleRun[] => {
    const [first] = runs
    const before = first ? countActive.get(first.schedule)!.active : 0
    let held = before
    return runs.map(({ id, schedule, dueAt, status, missed, owner, leasedUntil }) => {
      const isLeftOut = status === 'waiting' && ((policy === 'skip' && before > 0) || held >= mostActive)
      const now = isLeftOut ? 'skipped' : status
      const isActive = now === 'waiting'
      insert.run(id, schedule, nextSeq.get()!.value, dueAt, now, isActive ? 1 : 0, missed, owner, leasedUntil)
      if (isActive) held++
      else endOf.run(now, schedule)
      return findRun(id)!
    })
  }
  const store = {
    begin({ id, owner, runId, startedAt, leasedUntil, isAlone }) {
      return connection.transaction(() => {
        const row = find.get(id)
        if (!row) return 'gone'
        if (isAlone && earlier.get(row.schedule, id, row.seq)) return 'wait'
        return begin.run(runId, startedAt, leasedUntil, id, owner) === 1 ? 'begun' : 'gone'
      })
    },
    end({ id, owner, status, endedAt, summary, error, untrusted = false, keep }) {
      return connection.transaction(() => {
        const row = find.get(id)
        if (!row || end.run(status, endedAt, summary, error, untrusted ? 1 : 0, id, owner) === 0) return false
        endOf.run(status, row.schedule)
        forget.run(row.schedule, row.schedule, keep)
        return true
      })
    },
    renew(owner, leasedUntil) {
      renew.run(leasedUntil, owner)
    },
    takeOver: (id, from, { owner, leasedUntil }) => takeOver.run(owner, leasedUntil, id, from) === 1,
    active: (limit) => active.all(limit).map(toRun),
    findRun,
    runs: ({ schedule, before, limit }) =>
      list(
        [
          ['schedule = ?', schedule],
          ['seq < ?', before],
        ],
        pageSize(limit),
      ).map(toRun),
  } satisfies Partial<ScheduleStore>
  return { store, put }
}
