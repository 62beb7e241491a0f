import { ToolError } from '@tool-hub/core'
import {
  type Condition,
  count,
  defineStore,
  get,
  nextNumber,
  one,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import {
  type NewScheduleRun,
  type Overlap,
  SCHEDULE_RUNS,
  SCHEDULES,
  type ScheduleStore,
  type StoredSchedule,
  type StoredScheduleRun,
} from './store-types.ts'

/** Runs of schedules are numbered by a counter, as events are. */
const FIRST_RUN = "INSERT INTO counters (name, value) VALUES ('schedule-runs', 0);\n"

/** Runs that can be evicted: all that have ended, except the latest. */
const ENDED_RUNS = `SELECT id AS key FROM schedule_runs WHERE active = 0
 AND seq < (SELECT MAX(seq) FROM schedule_runs) ORDER BY seq LIMIT ?`

const RUNS = SCHEDULE_RUNS.without('active')
/** What changes when a schedule is saved, and when it fires. */
const SAVED = SCHEDULES.part('body', 'state', 'reason', 'dueAt', 'nextAt')
const FIRED = SCHEDULES.part('state', 'reason', 'dueAt', 'nextAt', 'lastAt')

const DUE = 'WHERE next_at <= ? ORDER BY next_at, id LIMIT ?'
const OLDEST_DONE = `SELECT id FROM schedules WHERE principal = ? AND state = 'done' AND id NOT IN (
   SELECT schedule FROM schedule_runs WHERE active = 1
 ) ORDER BY created_at, id LIMIT 1`
const SAVE = `UPDATE schedules SET ${SAVED.assignments}, version = version + 1
 WHERE id = ? AND version = ?`
const FIRE = `UPDATE schedules SET ${FIRED.assignments}, runs = runs + ?, version = version + 1 WHERE id = ? AND version = ?`
const SET_STATUS = 'UPDATE schedules SET last_status = ? WHERE id = ?'

const EARLIER_RUN = `SELECT id FROM schedule_runs
 WHERE schedule = ? AND active = 1 AND id <> ? AND (status = 'running' OR seq < ?) LIMIT 1`
const BEGIN_RUN = `UPDATE schedule_runs SET status = 'running', run_id = ?, started_at = ?, leased_until = ?
 WHERE id = ? AND owner = ? AND status = 'waiting'`
const END_RUN = `UPDATE schedule_runs SET status = ?, active = 0, ended_at = ?, summary = ?, error = ?, untrusted = ?
 WHERE id = ? AND owner = ? AND (active = 1 OR status = 'interrupted')`
const FORGET_RUNS = `DELETE FROM schedule_runs WHERE schedule = ? AND active = 0 AND seq <= (
   SELECT seq FROM schedule_runs WHERE schedule = ? ORDER BY seq DESC LIMIT 1 OFFSET ?
 )`
const TAKE_OVER = `UPDATE schedule_runs SET owner = ?, leased_until = ? WHERE id = ? AND owner = ? AND status = 'waiting'`

/** Schedules and their runs. */
const repository: Repository<ScheduleStore> = {
  add: (schedule, { most }) =>
    transaction(function* () {
      const { principal, name } = schedule
      const held = yield* count('schedules WHERE principal = ?', principal)
      if (held >= most) {
        const done = yield* get<{ id: string }>(OLDEST_DONE, principal)
        if (!done) throw tooManySchedules(held, most)
        yield* remove(done.id)
      }
      const values = SCHEDULES.values(schedule)
      if ((yield* run(`${SCHEDULES.insert} ON CONFLICT DO NOTHING`, ...values)) === 0) throw duplicateSchedule(name)
    }),
  find,
  *list({ principal, name, limit } = {}) {
    const conditions: Condition[] = [
      ['principal = ?', principal],
      ['name = ?', name],
    ]
    return yield* SCHEDULES.page('name, principal', conditions, limit)
  },
  *save(schedule) {
    return (yield* run(SAVE, ...SAVED.values(schedule), schedule.id, schedule.version)) === 1
  },
  remove: (id) => transaction(() => remove(id)),
  due: (now, limit) => SCHEDULES.list(DUE, now, limit),
  *nextAt() {
    const { next } = yield* one<{ next: number | null }>('SELECT MIN(next_at) AS next FROM schedules')
    return next ?? undefined
  },
  fire: ({ id, version, at, runs, overlap, ...next }) =>
    transaction(function* () {
      const times = runs.filter(({ status }) => status === 'waiting').length
      if ((yield* run(FIRE, ...FIRED.values({ ...next, lastAt: at }), times, id, version)) === 0) return undefined
      return yield* addRuns(runs, overlap)
    }),
  addRun: (added, overlap) =>
    transaction(function* () {
      if (!(yield* find(added.schedule))) throw new ToolError('NOT_FOUND', 'The schedule no longer exists.')
      return (yield* addRuns([added], overlap))[0]!
    }),
  begin: ({ id, owner, runId, startedAt, leasedUntil, isAlone }) =>
    transaction(function* () {
      const known = yield* findRun(id)
      if (!known) return 'gone'
      if (isAlone && (yield* get(EARLIER_RUN, known.schedule, id, known.seq))) return 'wait'
      return (yield* run(BEGIN_RUN, runId, startedAt, leasedUntil, id, owner)) === 1 ? 'begun' : 'gone'
    }),
  end: ({ id, owner, status, endedAt, summary, error, untrusted = false, keep }) =>
    transaction(function* () {
      const known = yield* findRun(id)
      if (!known) return false
      const values = [status, endedAt, summary, error, untrusted ? 1 : 0]
      if ((yield* run(END_RUN, ...values, id, owner)) === 0) return false
      yield* run(SET_STATUS, status, known.schedule)
      yield* run(FORGET_RUNS, known.schedule, known.schedule, keep)
      return true
    }),
  *renew(owner, leasedUntil) {
    yield* run('UPDATE schedule_runs SET leased_until = ? WHERE owner = ? AND active = 1', leasedUntil, owner)
  },
  *takeOver(id, from, { owner, leasedUntil }) {
    return (yield* run(TAKE_OVER, owner, leasedUntil, id, from)) === 1
  },
  active: (limit) => RUNS.list('WHERE active = 1 ORDER BY seq LIMIT ?', limit),
  findRun,
  *runs({ schedule, before, limit }) {
    const conditions: Condition[] = [
      ['schedule = ?', schedule],
      ['seq < ?', before],
    ]
    return yield* RUNS.page('seq DESC', conditions, limit)
  },
}

/** Scheduled calls, and their outcomes. */
export const schedulesStore = defineStore<{ schedules: ScheduleStore }>({
  repositories: { schedules: repository },
  tables: [SCHEDULES, SCHEDULE_RUNS, { migrations: { 11: FIRST_RUN } }],
  // A schedule that fires is on disk before its calls are made, which must not happen twice.
  durable: { schedules: ['add', 'save', 'remove', 'fire', 'addRun', 'begin', 'end', 'takeOver'] },
  bounds: {
    schedules: [
      { table: 'schedules', methods: ['add'], what: 'schedules' },
      {
        table: 'schedule_runs',
        methods: ['fire', 'addRun'],
        what: 'runs of schedules',
        evict: { column: 'id', select: ENDED_RUNS },
      },
    ],
  },
})

/** The error if the principal already has a schedule of that name. */
export function duplicateSchedule(name: string): ToolError {
  return new ToolError('CONFLICT', `A schedule named ${name} already exists.`, {
    hint: 'Change it with update, or choose another name.',
  })
}

/** The error if the principal has reached its maximum number of schedules. */
export function tooManySchedules(held: number, most: number): ToolError {
  return new ToolError('BUDGET_EXCEEDED', `There are already ${held} schedules; the limit is ${most}.`, {
    fix: { key: 'schedules.most', hint: 'Remove one that nobody needs any more, or ask the owner to raise the limit.' },
  })
}

function find(id: string): Work<StoredSchedule | undefined> {
  return SCHEDULES.find('WHERE id = ?', id)
}

function findRun(id: string): Work<StoredScheduleRun | undefined> {
  return RUNS.find('WHERE id = ?', id)
}

function* remove(id: string): Work<boolean> {
  yield* run('DELETE FROM schedule_runs WHERE schedule = ?', id)
  return (yield* run('DELETE FROM schedules WHERE id = ?', id)) > 0
}

function* addRuns(runs: readonly NewScheduleRun[], { policy, maxActive }: Overlap): Work<StoredScheduleRun[]> {
  const [first] = runs
  const before = first ? yield* count('schedule_runs WHERE schedule = ? AND active = 1', first.schedule) : 0
  let active = before
  const added: StoredScheduleRun[] = []
  for (const each of runs) {
    const isSkipped = each.status === 'waiting' && ((policy === 'skip' && before > 0) || active >= maxActive)
    const status = isSkipped ? 'skipped' : each.status
    const seq = yield* nextNumber('schedule-runs')
    const stored: StoredScheduleRun = { ...each, status, seq, untrusted: false }
    yield* run(SCHEDULE_RUNS.insert, ...SCHEDULE_RUNS.values({ ...stored, active: status === 'waiting' }))
    if (status === 'waiting') active++
    else yield* run(SET_STATUS, status, each.schedule)
    added.push(stored)
  }
  return added
}
