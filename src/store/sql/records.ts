import {
  type CallFilter,
  type CallIndex,
  type HeadStore,
  type IndexedCall,
  isFailure,
  type RunFilter,
  type StoredHead,
  ToolError,
} from '../../core/index.ts'
import {
  ANY_TIME,
  all,
  type Columns,
  type Condition,
  entity,
  flag,
  get,
  json,
  likePattern,
  page,
  pageSize,
  type Repository,
  run,
  transaction,
  type Work,
} from '../../core/sql/index.ts'
import { featureStores } from '../../features/generated/stores/index.ts'
import { changeOf, changeRun, mergeCall, progressChange, type RunChange, type RunProgress } from './index-call.ts'

const CALL_COLUMNS: Columns<IndexedCall> = {
  callId: 'call_id',
  run: 'run',
  seq: 'seq',
  tool: 'tool',
  caller: 'caller',
  principal: 'principal',
  parent: 'parent',
  status: 'status',
  startedAt: 'started_at',
  durationMs: 'duration_ms',
  effect: 'effect',
  rule: 'rule',
  error: 'error',
  summary: 'summary',
  targets: json('targets'),
  approvedBy: 'approved_by',
  purpose: 'purpose',
  request: 'request',
}
const CALLS = entity<IndexedCall>('calls', CALL_COLUMNS)
/** A call with what it is found by. */
const CALL_ROWS = entity<IndexedCall & { readonly failed: boolean; readonly searched: string }>('calls', {
  ...CALL_COLUMNS,
  failed: flag('failed'),
  searched: 'searched',
})
const RUNS = entity<RunProgress>('runs', {
  run: 'run',
  caller: 'caller',
  principal: 'principal',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  calls: 'calls',
  failures: 'failures',
  bytes: 'bytes',
})

const PUT_CALL = CALL_ROWS.upsert('call_id')
const PUT_RUN = RUNS.upsert('run')
const LIST_CALLS = {
  select: `SELECT ${CALLS.columns} FROM calls`,
  order: 'started_at DESC, seq DESC, call_id DESC',
}
const LIST_RUNS = { select: `SELECT ${RUNS.columns} FROM runs`, order: 'started_at DESC, run DESC' }
/** One caller stands for all sessions of a principal: every session has a caller of its own, and there are many. */
const LIST_CALLERS = `SELECT CASE WHEN caller LIKE 'session:%' THEN '' ELSE caller END AS caller, principal,
 COUNT(*) AS runs, SUM(calls) AS calls, MAX(ended_at) AS last_at FROM runs WHERE calls > 0
 GROUP BY 1, 2 ORDER BY 5 DESC, 1 LIMIT ?`
const LIST_SLICES = `SELECT CAST(started_at AS BIGINT) / CAST(? AS BIGINT) AS slice, COUNT(*) AS calls,
 SUM(CASE WHEN status IN ('denied', 'approval_required') THEN 0 ELSE failed END) AS failures,
 SUM(CASE WHEN status IN ('denied', 'approval_required') THEN 1 ELSE 0 END) AS denials,
 COALESCE(AVG(duration_ms), 0) AS mean_ms, COALESCE(MAX(duration_ms), 0) AS max_ms
 FROM calls WHERE started_at >= ? GROUP BY 1 ORDER BY 1 LIMIT ?`

/** The index over the records of all runs. */
export const calls: Repository<CallIndex> = {
  put: ({ calls, runs }) =>
    transaction(function* () {
      const changes: RunChange[] = []
      for (const entry of calls.map(withoutNul)) {
        const before = yield* findCall(entry.callId)
        const call = before ? mergeCall(before, entry) : entry
        if (call === before) continue
        const found = { failed: isFailure(call.status), searched: searchedText(call) }
        yield* run(PUT_CALL, ...CALL_ROWS.values({ ...call, ...found }))
        changes.push(changeOf(call, before))
      }
      yield* changeRuns([...changes, ...runs.map(progressChange)])
    }),
  *position(id) {
    return (yield* findRun(id))?.bytes ?? 0
  },
  *run(id) {
    const found = yield* findRun(id)
    return found && withoutBytes(found)
  },
  call: findCall,
  *runs(filter) {
    const rows = yield* page(LIST_RUNS, runConditions(filter), filter.limit)
    return rows.map((row) => withoutBytes(RUNS.read(row)))
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
    return (yield* page(LIST_CALLS, callConditions(filter), filter.limit)).map((row) => CALLS.read(row))
  },
  *rates({ since, sliceMs }) {
    const length = sliceLength(sliceMs)
    const rows = yield* all<SliceRow>(LIST_SLICES, length, since, MAX_SLICES)
    return rows.map(({ slice, calls, failures, denials, mean_ms: meanMs, max_ms: maxMs }) => ({
      at: slice * length,
      calls,
      failures,
      denials,
      meanMs,
      maxMs,
    }))
  },
  remove: (id) =>
    transaction(function* () {
      yield* run('DELETE FROM calls WHERE run = ?', id)
      yield* run('DELETE FROM runs WHERE run = ?', id)
    }),
  clear: () =>
    transaction(function* () {
      yield* run('DELETE FROM calls')
      yield* run('DELETE FROM runs')
    }),
}

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

const HEADS = entity<StoredHead>('run_heads', {
  run: 'run',
  opening: 'opening',
  seq: 'seq',
  hash: 'hash',
  at: 'kept_at',
  removedBy: 'removed_by',
})
const PUT_HEAD = `INSERT INTO run_heads (run, opening, seq, hash, kept_at) VALUES (?, ?, ?, ?, ?)
 ON CONFLICT (run, opening) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, kept_at = excluded.kept_at
 WHERE excluded.seq >= run_heads.seq`
const DROP_CONTINUED = 'DELETE FROM run_heads WHERE run = ? AND seq = ? AND hash = ? AND opening <> ?'
const MARK_REMOVED = 'UPDATE run_heads SET removed_by = ? WHERE run = ? AND removed_by IS NULL'
const LIST_HEADS = `SELECT ${HEADS.columns} FROM run_heads ORDER BY run, kept_at, seq`
const LIST_HEADS_OF_RUN = `SELECT ${HEADS.columns} FROM run_heads WHERE run = ? ORDER BY kept_at, seq`

/** The heads of run records. */
export const heads: Repository<HeadStore> = {
  put: ({ run: id, opening, seq, hash, at }, continues) =>
    transaction(function* () {
      if (continues) yield* run(DROP_CONTINUED, id, continues.seq, continues.hash, opening)
      yield* run(PUT_HEAD, id, opening, seq, hash, at)
    }),
  *list({ run: id } = {}) {
    const rows = yield* id === undefined ? all(LIST_HEADS) : all(LIST_HEADS_OF_RUN, id)
    return rows.map((row) => HEADS.read(row))
  },
  remove: (id, { by, at }) =>
    transaction(function* () {
      if ((yield* run(MARK_REMOVED, by, id)) > 0) return
      // The removal of a run without a head is on record, too.
      const removed = HEADS.values({ run: id, opening: '', seq: 0, hash: '', at, removedBy: by })
      yield* run(`${HEADS.insert} ON CONFLICT (run, opening) DO NOTHING`, ...removed)
    }),
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
  readonly mean_ms: number
  readonly max_ms: number
}

function* findCall(callId: string): Work<IndexedCall | undefined> {
  const row = yield* get(`${LIST_CALLS.select} WHERE call_id = ?`, callId)
  return row ? CALLS.read(row) : undefined
}

function* findRun(id: string): Work<RunProgress | undefined> {
  const row = yield* get(`${LIST_RUNS.select} WHERE run = ?`, id)
  return row ? RUNS.read(row) : undefined
}

function* changeRuns(changes: readonly RunChange[]): Work<void> {
  const changed = new Map<string, RunProgress>()
  for (const change of changes) {
    const before = changed.get(change.run) ?? (yield* findRun(change.run))
    changed.set(change.run, changeRun(before, change))
  }
  for (const each of changed.values()) yield* run(PUT_RUN, ...RUNS.values(each))
}

function callConditions({ run, tool, caller, status, text, before }: CallFilter): Condition[] {
  const [word] = foldWords([text ?? ''])
  return [
    ['run = ?', run],
    ['tool = ?', tool],
    ['caller = ?', caller],
    status === 'failed' ? ['failed = ?', 1] : ['status = ?', status],
    ['started_at < ?', before ?? ANY_TIME],
    [`searched LIKE ? ESCAPE '!'`, word && likePattern(word)],
  ]
}

/** What a search for runs looks in. */
const RUN_TEXTS = [
  `LOWER(run) LIKE ? ESCAPE '!'`,
  `LOWER(caller) LIKE ? ESCAPE '!'`,
  `EXISTS (SELECT 1 FROM calls WHERE calls.run = runs.run AND calls.searched LIKE ? ESCAPE '!')`,
  ...featureStores.flatMap(({ runText = [] }) => runText),
]

function runConditions({ caller, text, since, before }: RunFilter): Condition[] {
  const [word] = foldWords([text ?? ''])
  const pattern = word && likePattern(word)
  return [
    ['started_at < ?', before ?? ANY_TIME],
    ['(caller = ? OR principal = ?)', caller && [caller, caller]],
    ['ended_at >= ?', since],
    [`(${RUN_TEXTS.join(' OR ')})`, pattern && RUN_TEXTS.map(() => pattern)],
  ]
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
