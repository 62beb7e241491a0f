import {
  type DocumentStore,
  type FeatureStores,
  type HeadStore,
  type Job,
  type JobStore,
  type SignInStore,
  type SlotStore,
  type Store,
  type StoredDocument,
  type StoredHead,
  type StoredSignIn,
  type StoredToken,
  type TokenStore,
  ToolError,
  type UserTextStore,
} from '@tool-hub/core'
import {
  bind,
  column,
  type Driver,
  defineTable,
  dialect,
  type Entity,
  get,
  optional,
  pageSize,
  type Repository,
  run,
  type StoreOfFeature,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { APPROVAL_AGE_MS, createApprovals, grants } from './approvals.ts'
import { type CallSearch, createCallIndex } from './calls.ts'
import { EVENT_AGE_MS, type EventLog } from './events.ts'
import { budgets, keys, rates, sweepBlocks } from './limits.ts'

/** The parts of a store that are repositories. */
export type StoreParts = Omit<Store, 'location' | 'openQueue' | 'events' | 'check' | 'backup' | 'sweep' | 'close'>

/** The repositories of all parts. */
export type Repositories = { readonly [Name in keyof StoreParts]: Repository<StoreParts[Name]> }

/** The repositories of our own parts. */
type OwnRepositories = Omit<Repositories, keyof FeatureStores>

/** The repositories of a store. */
export function createRepositories(options: {
  readonly features: readonly StoreOfFeature[]
  readonly events: EventLog
  readonly search: CallSearch
  readonly now: () => number
  /** The clock by which processes are alive; that of the database if several machines use it. Default: `now`. */
  readonly time?: () => Work<number>
}): Repositories {
  const { time = () => timeOf(options.now) } = options
  const own: OwnRepositories = {
    keys,
    budgets,
    rates,
    approvals: createApprovals(options),
    grants,
    tokens,
    signIns,
    jobs,
    slots,
    calls: createCallIndex(options),
    heads,
    userTexts,
    documents,
  }
  const added = options.features.map(({ repositories }) =>
    typeof repositories === 'function' ? repositories({ time }) : repositories,
  )
  return Object.assign(own, ...added)
}

function* timeOf(now: () => number): Work<number> {
  // No query.
  yield* []
  return now()
}

/** The parts of a store that the repositories are on this database. */
export function bindAll<R extends Partial<Repositories>>(
  driver: Driver,
  repositories: R,
): Pick<StoreParts, keyof R & keyof StoreParts> {
  const parts = Object.entries(repositories).map(([name, repository]) => [
    name,
    bind(driver, repository as Repository<object>),
  ])
  return Object.fromEntries(parts)
}

/** The same parts; as long as no database exists, methods that every hub uses return an empty list without creating one. */
export function emptyAtFirst<Parts extends Partial<StoreParts>>(
  parts: Parts,
  features: readonly StoreOfFeature[],
  isThere: () => boolean,
): Parts {
  const changed = features.flatMap(({ emptyAtFirst: methods = {} }) =>
    Object.entries(methods).map(([name, keys = []]) => {
      const part: Record<string, (...values: unknown[]) => unknown> = { ...(parts as Record<string, object>)[name] }
      for (const key of keys) {
        const list = part[key]!
        part[key] = (...values) => (isThere() ? list(...values) : [])
      }
      return [name, part]
    }),
  )
  return { ...parts, ...Object.fromEntries(changed) }
}

/** Deletes what has expired, in all tables. */
export function sweep(now: number, features: readonly StoreOfFeature[]): Work<void> {
  return transaction(
    function* () {
      yield* run(`DELETE FROM idempotency_keys WHERE expires_at <= ? AND state = 'finished'`, now)
      yield* sweepBlocks(now)
      yield* run('DELETE FROM budgets WHERE expires_at <= ?', now)
      yield* run('DELETE FROM rates WHERE full_at <= ?', now)
      yield* run('DELETE FROM grants WHERE expires_at <= ?', now)
      yield* run('DELETE FROM sessions WHERE expires_at <= ?', now)
      yield* run('DELETE FROM slots WHERE leased_until <= ?', now)
      const longAgo = now - APPROVAL_AGE_MS
      yield* run(`DELETE FROM asks WHERE expires_at < ? OR (asked_at < ? AND state <> 'waiting')`, longAgo, longAgo)
      yield* run('DELETE FROM events WHERE created_at < ?', now - EVENT_AGE_MS)
      yield* run('DELETE FROM user_texts WHERE added_at < ?', now - USER_TEXT_AGE_MS)
      for (const { sweep: sweepFeature } of features) if (sweepFeature) yield* sweepFeature(now)
    },
    ['sweep'],
  )
}

export const JOBS = defineTable(
  'jobs',
  4,
  {
    id: column.text({ key: true }),
    kind: column.text(),
    body: column.text(),
    dueAt: column.bigint(),
    attempts: column.integer(),
    owner: optional.text(),
    leasedUntil: column.bigint(),
  },
  { indexes: { due: ['kind', 'dueAt'] } },
)
const JOB = JOBS.part('id', 'kind', 'body', 'dueAt', 'attempts') satisfies Entity<Job>
const IS_DUE = 'SELECT 1 FROM jobs WHERE kind = ? AND due_at <= ? AND leased_until <= ? LIMIT 1'
/** In PostgreSQL, jobs that another process takes at this moment are left to it. */
const take = (skip: string) => `UPDATE jobs SET owner = ?, leased_until = ?, attempts = attempts + 1
 WHERE leased_until <= ? AND id = (
   SELECT id FROM jobs WHERE kind = ? AND due_at <= ? AND leased_until <= ? ORDER BY due_at, id LIMIT 1${skip}
 )
 RETURNING ${JOB.columns}`
const TAKE = { sqlite: take(''), postgres: take(' FOR UPDATE SKIP LOCKED') }

/** Jobs. */
const jobs: Repository<JobStore> = {
  *add(job) {
    const values = JOBS.values({ ...job, attempts: 0, leasedUntil: 0 })
    yield* run(`${JOBS.insert} ON CONFLICT (id) DO NOTHING`, ...values)
  },
  *take({ kind, owner, now, leaseMs }) {
    // Workers ask again and again; while nothing is due they must not take turns at writing.
    if (!(yield* get(IS_DUE, kind, now, now))) return undefined
    const sql = TAKE[yield* dialect()]
    const row = yield* transaction(() => get(sql, owner, now + leaseMs, now, kind, now, now), [])
    return row ? JOB.read(row) : undefined
  },
  *finish(id) {
    yield* run('DELETE FROM jobs WHERE id = ?', id)
  },
  *retry(id, dueAt) {
    yield* run('UPDATE jobs SET due_at = ?, owner = NULL, leased_until = 0 WHERE id = ?', dueAt, id)
  },
  *list({ kind, limit }) {
    return yield* JOB.list('WHERE kind = ? ORDER BY due_at, id LIMIT ?', kind, pageSize(limit))
  },
}

export const SLOTS = defineTable('slots', 4, {
  slot: column.text({ key: true }),
  owner: column.text(),
  leasedUntil: column.bigint(),
})
const LEASE = `${SLOTS.upsert}
 WHERE slots.owner = excluded.owner OR slots.leased_until <= ?`

/** Slots. */
const slots: Repository<SlotStore> = {
  *lease(slot, { owner, now, until }) {
    return (yield* run(LEASE, ...SLOTS.values({ slot, owner, leasedUntil: until }), now)) === 1
  },
  *release(slot, owner) {
    yield* run('DELETE FROM slots WHERE slot = ? AND owner = ?', slot, owner)
  },
}

export const TOKENS = defineTable(
  'tokens',
  3,
  {
    id: column.text({ key: true }),
    name: column.text({ unique: true }),
    hash: column.text({ unique: true }),
    body: column.text(),
    createdAt: column.bigint(),
    expiresAt: optional.bigint(),
    usedAt: optional.bigint(),
    rotatedAt: optional.bigint({ since: 26 }),
    previousHash: optional.text({ since: 26 }),
    previousExpiresAt: optional.bigint({ since: 26 }),
    previousUsedAt: optional.bigint({ since: 26 }),
  },
  { indexes: { previous_hash: { on: ['previousHash'], unique: true, since: 26 } } },
) satisfies Entity<StoredToken>

const ROTATE = `UPDATE tokens SET previous_hash = hash, previous_expires_at = ?, previous_used_at = used_at,
 hash = ?, rotated_at = ?, expires_at = ?, used_at = NULL WHERE id = ? AND hash = ?`

/** API tokens. */
const tokens: Repository<TokenStore> = {
  *add(token) {
    if ((yield* run(`${TOKENS.insert} ON CONFLICT DO NOTHING`, ...TOKENS.values(token))) > 0) return
    throw new ToolError('CONFLICT', `There is a token ${token.name} already.`, {
      hint: 'Use another name, or remove that token first.',
    })
  },
  *findByHash(hash) {
    return (yield* TOKENS.find('WHERE hash = ?', hash)) ?? (yield* TOKENS.find('WHERE previous_hash = ?', hash))
  },
  list: () => TOKENS.list('ORDER BY created_at, id'),
  *remove(id) {
    return (yield* run('DELETE FROM tokens WHERE id = ?', id)) > 0
  },
  *rotate(id, { from, to, at, expiresAt, previousExpiresAt }) {
    return (yield* run(ROTATE, previousExpiresAt, to, at, expiresAt, id, from)) > 0
  },
  *touch(id, at, secret = 'current') {
    const column = secret === 'current' ? 'used_at' : 'previous_used_at'
    yield* run(`UPDATE tokens SET ${column} = ? WHERE id = ? AND (${column} IS NULL OR ${column} < ?)`, at, id, at)
  },
}

/** The table was named before agents had sessions: theirs is `agent_sessions`. */
export const SIGN_INS = defineTable(
  'sessions',
  3,
  {
    hash: column.text({ key: true }),
    token: column.text(),
    body: column.text(),
    createdAt: column.bigint(),
    expiresAt: column.bigint(),
  },
  { indexes: { token: ['token'], expiry: ['expiresAt'] } },
) satisfies Entity<StoredSignIn>

/** Sign-ins of the console. */
const signIns: Repository<SignInStore> = {
  *add(signIn) {
    yield* run(SIGN_INS.upsert, ...SIGN_INS.values(signIn))
  },
  find: (hash, now) => SIGN_INS.find('WHERE hash = ? AND expires_at > ?', hash, now),
  *remove(hash) {
    yield* run('DELETE FROM sessions WHERE hash = ?', hash)
  },
  *removeOf(token) {
    yield* run('DELETE FROM sessions WHERE token = ?', token)
  },
}

export const USER_TEXTS = defineTable(
  'user_texts',
  17,
  { run: column.text(), seq: column.bigint(), body: column.text(), addedAt: column.bigint() },
  { key: ['run', 'seq'], indexes: { age: ['addedAt'] } },
)
/** As long as a run that nobody uses keeps its budget. */
const USER_TEXT_AGE_MS = 30 * 86_400_000
const ADD_TEXT = `INSERT INTO user_texts (run, seq, body, added_at)
 SELECT ?, COALESCE(MAX(seq), 0) + 1, ?, ? FROM user_texts WHERE run = ?`
const DROP_OLDEST_TEXTS = `DELETE FROM user_texts WHERE run = ? AND seq < (
   SELECT MIN(seq) FROM (
     SELECT seq, SUM(LENGTH(body)) OVER (ORDER BY seq DESC) AS kept FROM user_texts WHERE run = ?
   ) AS sizes WHERE kept <= ?
 )`

/** What users said. */
const userTexts: Repository<UserTextStore> = {
  add: (id, text, { maxChars, at }) =>
    transaction(
      function* () {
        yield* run(ADD_TEXT, id, text.slice(0, maxChars), at, id)
        yield* run(DROP_OLDEST_TEXTS, id, id, maxChars)
      },
      [`user-texts:${id}`],
    ),
  *list(id) {
    return (yield* USER_TEXTS.list('WHERE run = ? ORDER BY seq', id)).map(({ body }) => body)
  },
  *remove(id) {
    yield* run('DELETE FROM user_texts WHERE run = ?', id)
  },
}

/** One row for each opening of a run: an earlier one is removed if the next continues it, and stays as evidence if it does not. */
export const HEADS = defineTable(
  'run_heads',
  13,
  {
    run: column.text(),
    opening: column.text(),
    seq: column.bigint(),
    hash: column.text(),
    at: column.bigint({ name: 'kept_at' }),
    removedBy: optional.text(),
  },
  { key: ['run', 'opening'] },
) satisfies Entity<StoredHead>
const PUT_HEAD = `${HEADS.insert}
 ON CONFLICT (run, opening) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, kept_at = excluded.kept_at
 WHERE excluded.seq >= run_heads.seq`
const DROP_CONTINUED = 'DELETE FROM run_heads WHERE run = ? AND seq = ? AND hash = ? AND opening <> ?'
const MARK_REMOVED = 'UPDATE run_heads SET removed_by = ? WHERE run = ? AND removed_by IS NULL'

/** The heads of run records. */
const heads: Repository<HeadStore> = {
  put: ({ run: id, opening, seq, hash, at }, continues) =>
    transaction(
      function* () {
        if (continues) yield* run(DROP_CONTINUED, id, continues.seq, continues.hash, opening)
        yield* run(PUT_HEAD, ...HEADS.values({ run: id, opening, seq, hash, at }))
      },
      [`heads:${id}`],
    ),
  *list({ run: id } = {}) {
    if (id === undefined) return yield* HEADS.list('ORDER BY run, kept_at, seq')
    return yield* HEADS.list('WHERE run = ? ORDER BY kept_at, seq', id)
  },
  remove: (id, { by, at }) =>
    transaction(
      function* () {
        if ((yield* run(MARK_REMOVED, by, id)) > 0) return
        // The removal of a run without a head is on record, too.
        const removed = HEADS.values({ run: id, opening: '', seq: 0, hash: '', at, removedBy: by })
        yield* run(`${HEADS.insert} ON CONFLICT (run, opening) DO NOTHING`, ...removed)
      },
      [`heads:${id}`],
    ),
}

/** Documents by name, with their revisions. */
export const DOCUMENTS = defineTable('documents', 24, {
  name: column.text({ key: true }),
  body: column.text(),
  revision: column.bigint(),
})

const MAX_DOCUMENT_CHARS = 4_000_000

const READ_DOCUMENT =
  'SELECT revision, CASE WHEN revision = ? THEN NULL ELSE body END AS body FROM documents WHERE name = ?'
const ADD_DOCUMENT = 'INSERT INTO documents (name, body, revision) VALUES (?, ?, 1) ON CONFLICT (name) DO NOTHING'
const REPLACE_DOCUMENT = 'UPDATE documents SET body = ?, revision = revision + 1 WHERE name = ? AND revision = ?'

const documents: Repository<DocumentStore> = {
  *read(name, known = 0) {
    const row = yield* get<{ readonly revision: number; readonly body: string | null }>(READ_DOCUMENT, known, name)
    if (!row) return undefined
    const { revision, body } = row
    return (body === null ? { revision } : { revision, body }) satisfies StoredDocument
  },
  *write(name, body, revision) {
    if (body.length > MAX_DOCUMENT_CHARS) throw tooLarge(name, body.length)
    return (yield* revision === 0 ? run(ADD_DOCUMENT, name, body) : run(REPLACE_DOCUMENT, body, name, revision)) === 1
  },
}

function tooLarge(name: string, chars: number): ToolError {
  return new ToolError(
    'FILE_TOO_LARGE',
    `The document ${name} would have ${chars} characters, the limit is ${MAX_DOCUMENT_CHARS}.`,
    { hint: 'Remove what is not needed any more from it.' },
  )
}
