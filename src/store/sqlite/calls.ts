import type { CallFilter, CallIndex, IndexedRun, RunFilter } from '../../store.ts'
import { changeOf, changeRun, type KeptRun, mergeCall, progressOf, type RunChange } from '../rules/index-call.ts'
import { pageSize } from '../rules/page-size.ts'
import { foldWords } from '../rules/search-text.ts'
import { MOST_SLICES, sliceLength } from '../rules/slice-length.ts'
import { CALL_COLUMNS, type CallRow, callValues, toCall, withoutNul } from './call-row.ts'
import type { Connection } from './connection.ts'
import { ANY_TIME, type Condition, filteredQuery } from './filtered-query.ts'
import { likePattern } from './like-pattern.ts'

interface RunRow {
  readonly run: string
  readonly caller: string
  readonly principal: string | null
  readonly started_at: number
  readonly ended_at: number
  readonly calls: number
  readonly failures: number
  readonly bytes: number
}

interface SliceRow {
  readonly slice: number
  readonly calls: number
  readonly failures: number
  readonly denials: number
  readonly mean_ms: number
  readonly max_ms: number
}

interface CallerRow {
  readonly caller: string
  readonly principal: string | null
  readonly runs: number
  readonly calls: number
  readonly last_at: number
}

const RUN_COLUMNS = 'run, caller, principal, started_at, ended_at, calls, failures, bytes'

/** The index over run records in the file. */
export function createCalls(connection: Connection): CallIndex {
  const findCall = connection.statement<CallRow>(`SELECT ${CALL_COLUMNS} FROM calls WHERE call_id = ?`)
  const putCall = connection.statement(
    `INSERT INTO calls (${CALL_COLUMNS}, failed, searched) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (call_id) DO UPDATE SET seq = excluded.seq, tool = excluded.tool, caller = excluded.caller,
     principal = excluded.principal, parent = excluded.parent, status = excluded.status,
     started_at = excluded.started_at, duration_ms = excluded.duration_ms, effect = excluded.effect,
     rule = excluded.rule, error = excluded.error, summary = excluded.summary, targets = excluded.targets,
     approved_by = excluded.approved_by, purpose = excluded.purpose, request = excluded.request, failed = excluded.failed,
     searched = excluded.searched`,
  )
  const findRun = connection.statement<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE run = ?`)
  const putRun = connection.statement(
    `INSERT INTO runs (${RUN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (run) DO UPDATE SET caller = excluded.caller, principal = excluded.principal, started_at = excluded.started_at,
     ended_at = excluded.ended_at, calls = excluded.calls, failures = excluded.failures, bytes = excluded.bytes`,
  )
  const listCalls = filteredQuery<CallRow>(connection, {
    select: `SELECT ${CALL_COLUMNS} FROM calls`,
    order: 'started_at DESC, seq DESC, call_id DESC',
  })
  const listRuns = filteredQuery<RunRow>(connection, {
    select: `SELECT ${RUN_COLUMNS} FROM runs`,
    order: 'started_at DESC, run DESC',
  })
  const slices = connection.statement<SliceRow>(
    `SELECT CAST(started_at AS BIGINT) / CAST(? AS BIGINT) AS slice, COUNT(*) AS calls,
     SUM(CASE WHEN status IN ('denied', 'approval_required') THEN 0 ELSE failed END) AS failures,
     SUM(CASE WHEN status IN ('denied', 'approval_required') THEN 1 ELSE 0 END) AS denials,
     COALESCE(AVG(duration_ms), 0) AS mean_ms, COALESCE(MAX(duration_ms), 0) AS max_ms
     FROM calls WHERE started_at >= ? GROUP BY 1 ORDER BY 1 LIMIT ?`,
  )
  // Every session has a caller of its own, and there are many.
  const callers = connection.statement<CallerRow>(
    `SELECT CASE WHEN caller LIKE 'session:%' THEN '' ELSE caller END AS caller, principal, COUNT(*) AS runs,
     SUM(calls) AS calls, MAX(ended_at) AS last_at FROM runs WHERE calls > 0 GROUP BY 1, 2 ORDER BY 5 DESC, 1 LIMIT ?`,
  )
  const removeCalls = connection.statement('DELETE FROM calls WHERE run = ?')
  const removeRun = connection.statement('DELETE FROM runs WHERE run = ?')
  const clearCalls = connection.statement('DELETE FROM calls')
  const clearRuns = connection.statement('DELETE FROM runs')

  const changeRuns = (changes: readonly RunChange[]) => {
    const runs = new Map<string, KeptRun>()
    for (const change of changes) {
      const row = runs.has(change.run) ? undefined : findRun.get(change.run)
      runs.set(change.run, changeRun(runs.get(change.run) ?? (row && toRun(row)), change))
    }
    for (const { run, caller, principal, startedAt, endedAt, calls, failures, bytes } of runs.values())
      putRun.run(run, caller, principal, startedAt, endedAt, calls, failures, bytes)
  }
  return {
    put({ calls, runs }) {
      connection.transaction(() => {
        const changes: RunChange[] = []
        for (const entry of calls.map(withoutNul)) {
          const row = findCall.get(entry.callId)
          const before = row && toCall(row)
          const call = before ? mergeCall(before, entry) : entry
          if (call === before) continue
          putCall.run(...callValues(call))
          changes.push(changeOf(call, before))
        }
        changeRuns([...changes, ...runs.map(progressOf)])
      })
    },
    position: (run) => findRun.get(run)?.bytes ?? 0,
    run(id) {
      const row = findRun.get(id)
      return row && shown(toRun(row))
    },
    call(callId) {
      const row = findCall.get(callId)
      return row && toCall(row)
    },
    runs: (filter) => listRuns(runConditions(filter), pageSize(filter.limit)).map((row) => shown(toRun(row))),
    callers: ({ limit }) =>
      callers.all(pageSize(limit)).map(({ caller, principal, runs, calls, last_at }) => ({
        caller,
        ...(principal !== null && { principal }),
        runs,
        calls,
        lastAt: last_at,
      })),
    calls: (filter) => listCalls(conditionsOf(filter), pageSize(filter.limit)).map(toCall),
    rates({ since, sliceMs }) {
      const length = sliceLength(sliceMs)
      return slices.all(length, since, MOST_SLICES).map(({ slice, calls, failures, denials, mean_ms, max_ms }) => ({
        at: slice * length,
        calls,
        failures,
        denials,
        meanMs: mean_ms,
        maxMs: max_ms,
      }))
    },
    remove(run) {
      connection.transaction(() => {
        removeCalls.run(run)
        removeRun.run(run)
      })
    },
    clear() {
      connection.transaction(() => {
        clearCalls.run()
        clearRuns.run()
      })
    },
  }
}

function conditionsOf({ run, tool, caller, status, text, before }: CallFilter): Condition[] {
  const [word] = foldWords([text ?? ''])
  const ofStatus: Condition = status === 'failed' ? ['failed = ?', 1] : ['status = ?', status]
  return [
    ['run = ?', run],
    ['tool = ?', tool],
    ['caller = ?', caller],
    ofStatus,
    ['started_at < ?', before ?? ANY_TIME],
    [`searched LIKE ? ESCAPE '!'`, word && likePattern(word)],
  ]
}

/** What runs are searched in; a session that made no calls is found by the run that it came from. */
const RUN_TEXT = `(LOWER(run) LIKE ? ESCAPE '!' OR LOWER(caller) LIKE ? ESCAPE '!'
 OR EXISTS (SELECT 1 FROM calls WHERE calls.run = runs.run AND calls.searched LIKE ? ESCAPE '!')
 OR EXISTS (SELECT 1 FROM agent_sessions WHERE (id = runs.run OR root = runs.run) AND LOWER(task) LIKE ? ESCAPE '!'))`

function runConditions({ caller, text, since, before }: RunFilter): Condition[] {
  const [word] = foldWords([text ?? ''])
  const pattern = word && likePattern(word)
  return [
    ['started_at < ?', before ?? ANY_TIME],
    ['(caller = ? OR principal = ?)', caller && [caller, caller]],
    ['ended_at >= ?', since],
    [RUN_TEXT, pattern && [pattern, pattern, pattern, pattern]],
  ]
}

function toRun({ run, caller, principal, started_at, ended_at, calls, failures, bytes }: RunRow): KeptRun {
  return {
    run,
    caller,
    ...(principal !== null && { principal }),
    startedAt: started_at,
    endedAt: ended_at,
    calls,
    failures,
    bytes,
  }
}

function shown({ bytes: _, ...run }: KeptRun): IndexedRun {
  return run
}
