import {
  CALLER_ERRORS,
  type CallFilter,
  type CallIndex,
  type IndexedCall,
  isFailure,
  type RunFilter,
  ToolError,
} from '@tool-hub/core'
import {
  ANY_TIME,
  all,
  type Bindable,
  type Condition,
  column,
  defineTable,
  type Entity,
  get,
  likePattern,
  optional,
  page,
  pageSize,
  type Repository,
  run,
  type StoreOfFeature,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { changeOf, changeRun, mergeCall, progressChange, type RunChange, type RunProgress } from './run-changes.ts'

export const CALLS = defineTable(
  'calls',
  5,
  {
    callId: column.text({ key: true }),
    run: column.text(),
    seq: column.bigint(),
    tool: column.text(),
    caller: column.text(),
    principal: optional.text(),
    parent: optional.text(),
    status: column.text(),
    startedAt: column.bigint(),
    durationMs: optional.double(),
    effect: optional.text(),
    rule: optional.text(),
    error: optional.text(),
    summary: optional.text(),
    targets: optional.json<readonly string[]>(),
    approvedBy: optional.text(),
    failed: column.flag(),
    searched: column.text(),
    purpose: optional.text({ since: 14 }),
    request: optional.text({ since: 15 }),
    attempts: optional.integer({ since: 28 }),
  },
  {
    indexes: {
      time: ['startedAt'],
      run: ['run', 'startedAt'],
      tool: ['tool', 'startedAt'],
      caller: ['caller', 'startedAt'],
      failed: ['failed', 'startedAt'],
    },
  },
) satisfies Entity<IndexedCall & { readonly failed: boolean; readonly searched: string }>
export const RUNS = defineTable(
  'runs',
  5,
  {
    run: column.text({ key: true }),
    caller: column.text(),
    startedAt: column.bigint(),
    // It is the start of a call and its duration, which has fractions.
    endedAt: column.bigint({ inPostgres: 'DOUBLE PRECISION' }),
    calls: column.bigint(),
    failures: column.bigint(),
    bytes: column.bigint(),
    principal: optional.text({ since: 14 }),
    denials: column.bigint({ since: 27, initial: 0 }),
  },
  { indexes: { time: ['startedAt'], caller: ['caller', 'startedAt'] } },
) satisfies Entity<RunProgress>

/** What the index returns of a call: all but what it is found by. */
const INDEXED = CALLS.without('failed', 'searched') satisfies Entity<IndexedCall>
/** A call with the same id in another run stays as it is; it may have been added since it was looked for. */
const PUT_CALL = `${CALLS.upsert} WHERE calls.run = excluded.run`
const FIND_CALL = `${selectCalls('calls')} WHERE call_id = ?`
const LATEST_FIRST = 'started_at DESC, seq DESC, call_id DESC'
/** One caller stands for all sessions of a principal: every session has a caller of its own, and there are many. */
const LIST_CALLERS = `SELECT CASE WHEN SUBSTR(caller, 1, 8) = 'session:' THEN '' ELSE caller END AS caller, principal,
 COUNT(*) AS runs, SUM(calls) AS calls, MAX(ended_at) AS last_at FROM runs WHERE calls > 0
 GROUP BY 1, 2 ORDER BY 5 DESC, 1 LIMIT ?`
const IS_DENIED = "status IN ('denied', 'approval_required')"
const IS_CALLERS = `error IN (${[...CALLER_ERRORS].map((code) => `'${code}'`).join(', ')})`
const LIST_SLICES = `SELECT CAST(started_at AS BIGINT) / CAST(? AS BIGINT) AS slice, COUNT(*) AS calls,
 SUM(CASE WHEN ${IS_DENIED} OR ${IS_CALLERS} THEN 0 ELSE failed END) AS failures,
 SUM(CASE WHEN ${IS_DENIED} THEN 1 ELSE 0 END) AS denials,
 SUM(CASE WHEN ${IS_CALLERS} AND NOT ${IS_DENIED} THEN failed ELSE 0 END) AS caller_errors,
 COALESCE(AVG(duration_ms), 0) AS mean_ms, COALESCE(MAX(duration_ms), 0) AS max_ms
 FROM calls WHERE started_at >= ? GROUP BY 1 ORDER BY 1 LIMIT ?`

/** How a database finds the calls that contain a word without looking at all of them. */
export interface CallSearch {
  /** Adds the text of a call that was added. */
  add(callId: string, text: string): Work<void>
  /** Replaces the text of a call. */
  replace(callId: string, text: string): Work<void>
  /** Returns the few calls that may contain the word; `undefined` if they are many, or cannot be told apart. */
  narrow(word: string): Work<NarrowedCalls | undefined>
}

/** Some of the calls: what to select them from, in place of the table, and on which condition. */
interface NarrowedCalls {
  readonly from: string
  readonly where: string
  readonly value: Bindable
}

/** How calls and runs are found. */
interface CallIndexOptions {
  readonly search: CallSearch
  /** Features whose tables say what else a run is found by. */
  readonly features: readonly StoreOfFeature[]
}

/** The index over the records of all runs. */
export const createCallIndex = ({ search, features }: CallIndexOptions): Repository<CallIndex> => ({
  put: ({ calls, runs }) =>
    transaction(
      function* () {
        const changes: RunChange[] = []
        for (const entry of calls.map(withoutNul)) {
          const before = yield* findCall(entry.callId)
          const call = before ? mergeCall(before, entry) : entry
          if (call === before) continue
          const searched = searchedText(call)
          yield* run(PUT_CALL, ...CALLS.values({ ...call, failed: isFailure(call.status), searched }))
          if (!before) yield* search.add(call.callId, searched)
          else if (searched !== searchedText(before)) yield* search.replace(call.callId, searched)
          changes.push(changeOf(call, before))
        }
        yield* changeRuns([...changes, ...runs.map(progressChange)])
      },
      [...calls, ...runs].map((each) => `calls:${each.run}`),
    ),
  *position(id) {
    return (yield* findRun(id))?.bytes ?? 0
  },
  *run(id) {
    const found = yield* findRun(id)
    return found && withoutBytes(found)
  },
  call: findCall,
  *runs(filter) {
    const conditions = yield* runConditions(filter, { search, features })
    return (yield* RUNS.page('started_at DESC, run DESC', conditions, filter.limit)).map(withoutBytes)
  },
  *callers({ limit }) {
    const rows = yield* all<CallerRow>(LIST_CALLERS, pageSize(limit))
    return rows.map(({ caller, principal, runs, calls, last_at: lastAt }) => ({
      caller,
      ...(principal !== null && { principal }),
      runs,
      calls,
      lastAt,
    }))
  },
  *calls(filter) {
    const [word] = foldWords([filter.text ?? ''])
    const few = word && (yield* search.narrow(word))
    const conditions = callConditions(filter, word)
    if (few) conditions.push([few.where, few.value])
    const select = selectCalls(few ? few.from : 'calls')
    const rows = yield* page({ select, order: LATEST_FIRST }, conditions, filter.limit)
    return rows.map((row) => INDEXED.read(row))
  },
  *rates({ since, sliceMs }) {
    const length = sliceLength(sliceMs)
    const rows = yield* all<SliceRow>(LIST_SLICES, length, since, MAX_SLICES)
    return rows.map(
      ({ slice, calls, failures, denials, caller_errors: callerErrors, mean_ms: meanMs, max_ms: maxMs }) => ({
        at: slice * length,
        calls,
        failures,
        denials,
        callerErrors,
        meanMs,
        maxMs,
      }),
    )
  },
  remove: (id) =>
    transaction(
      function* () {
        yield* run('DELETE FROM calls WHERE run = ?', id)
        yield* run('DELETE FROM runs WHERE run = ?', id)
      },
      [`calls:${id}`],
    ),
  clear: () =>
    transaction(function* () {
      yield* run('DELETE FROM calls')
      yield* run('DELETE FROM runs')
    }),
})

/** The longest list of slices. */
export const MAX_SLICES = 10_000
const MAX_SEARCH_WORDS = 32
const MAX_SEARCH_WORD_LENGTH = 200
/** Targets can be many and long; a search looks in this much of them. */
const MAX_SEARCHED_LENGTH = 4_000

/** The length of a slice of time as it is counted: a whole number of milliseconds. */
export function sliceLength(sliceMs: number): number {
  if (Number.isInteger(sliceMs) && sliceMs > 0) return sliceMs
  throw new ToolError('INPUT_SCHEMA_INVALID', `A slice of time has a whole number of milliseconds, not ${sliceMs}.`, {
    hint: 'Use 60000 for a minute.',
  })
}

/** The text of a call that a search looks in: tool, caller, purpose, summary, targets and request. */
export function searchedText(call: IndexedCall): string {
  const { tool, caller, purpose = '', summary = '', targets = [], request } = call
  const asked = request === undefined ? [] : [request]
  return foldText([tool, caller, purpose, summary, ...targets, ...asked].join('\n').slice(0, MAX_SEARCHED_LENGTH))
}

/** Text in the form that is searched: in lower case and without NUL. */
export function foldText(text: string): string {
  return text.toLowerCase().replaceAll('\0', '\ufffd')
}

/** The words of a search in the form that is searched, without empty ones. Refuses too many and too long ones. */
export function foldWords(words: readonly string[]): readonly string[] {
  if (words.length > MAX_SEARCH_WORDS)
    throw searchTooLarge(`A search has at most ${MAX_SEARCH_WORDS} words, not ${words.length}.`)
  const longest = Math.max(0, ...words.map(({ length }) => length))
  if (longest > MAX_SEARCH_WORD_LENGTH)
    throw searchTooLarge(`A word to look for has at most ${MAX_SEARCH_WORD_LENGTH} characters, not ${longest}.`)
  return words.map(foldText).filter((word) => word !== '')
}

interface CallerRow {
  readonly caller: string
  readonly principal: string | null
  readonly runs: number
  readonly calls: number
  readonly last_at: number
}

interface SliceRow {
  readonly slice: number
  readonly calls: number
  readonly failures: number
  readonly denials: number
  readonly caller_errors: number
  readonly mean_ms: number
  readonly max_ms: number
}

function* findCall(callId: string): Work<IndexedCall | undefined> {
  const row = yield* get(FIND_CALL, callId)
  return row ? INDEXED.read(row) : undefined
}

function findRun(id: string): Work<RunProgress | undefined> {
  return RUNS.find('WHERE run = ?', id)
}

function* changeRuns(changes: readonly RunChange[]): Work<void> {
  const changed = new Map<string, RunProgress>()
  for (const change of changes) {
    const before = changed.get(change.run) ?? (yield* findRun(change.run))
    changed.set(change.run, changeRun(before, change))
  }
  for (const each of changed.values()) yield* run(RUNS.upsert, ...RUNS.values(each))
}

function selectCalls(from: string): string {
  return `SELECT ${INDEXED.columns} FROM ${from}`
}

function callConditions({ run, tool, caller, status, before }: CallFilter, word: string | undefined): Condition[] {
  return [
    ['run = ?', run],
    ['tool = ?', tool],
    ['caller = ?', caller],
    status === 'failed' ? ['failed = ?', 1] : ['status = ?', status],
    ['started_at < ?', before ?? ANY_TIME],
    [`searched LIKE ? ESCAPE '!'`, word && likePattern(word)],
  ]
}

/** What a search for runs looks in, apart from their calls. */
const RUN_TEXTS = [`LOWER(run) LIKE ? ESCAPE '!'`, `LOWER(caller) LIKE ? ESCAPE '!'`]
const CALL_TEXT = `EXISTS (SELECT 1 FROM calls WHERE calls.run = runs.run AND calls.searched LIKE ? ESCAPE '!')`

function* runConditions({ caller, text, since, before }: RunFilter, options: CallIndexOptions): Work<Condition[]> {
  const [word] = foldWords([text ?? ''])
  return [
    ['started_at < ?', before ?? ANY_TIME],
    ['(caller = ? OR principal = ?)', caller && [caller, caller]],
    ['ended_at >= ?', since],
    ...(word === undefined ? [] : [yield* runText(word, options)]),
  ]
}

function* runText(word: string, { search, features }: CallIndexOptions): Work<Condition> {
  const pattern = likePattern(word)
  const few = yield* search.narrow(word)
  const inCalls: Condition = few
    ? [`run IN (SELECT run FROM ${few.from} WHERE ${few.where} AND searched LIKE ? ESCAPE '!')`, [few.value, pattern]]
    : [CALL_TEXT, pattern]
  const found = [...RUN_TEXTS, ...features.flatMap(({ runText = [] }) => runText)]
  const texts = [...found.map((sql): Condition => [sql, pattern]), inCalls]
  return [`(${texts.map(([sql]) => sql).join(' OR ')})`, texts.flatMap(([, value]) => value)]
}

/** Records hold what models and tools said: one odd character must not keep a whole batch out of the index. */
function withoutNul(call: IndexedCall): IndexedCall {
  const changed: [string, string][] = []
  for (const [name, value] of Object.entries(call))
    if (hasNul(value)) changed.push([name, value.replaceAll('\0', '\ufffd')])
  return changed.length === 0 ? call : { ...call, ...Object.fromEntries(changed) }
}

function hasNul(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\0')
}

function withoutBytes({ bytes: _, ...run }: RunProgress) {
  return run
}

function searchTooLarge(message: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Look for less.' })
}
