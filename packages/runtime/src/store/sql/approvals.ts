import {
  type ApprovalBrief,
  type ApprovalStore,
  type GrantStore,
  type NewApproval,
  type StoredAnswer,
  type StoredApproval,
  type StoredGrant,
  ToolError,
} from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import {
  ANY_TIME,
  all,
  type Condition,
  compareIds,
  count,
  entity,
  flag,
  get,
  page,
  pageSize,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { isOwnerAlive } from '@tool-hub/sandbox/system'
import type { EventLog } from './events.ts'

/** How long the outcome of an approval request is kept. */
export const APPROVAL_AGE_MS = 30 * 86_400_000

/** The columns of `NewApproval`, with those that change; the table keeps the name that it had at first. */
const REQUESTS = entity<Omit<StoredApproval, 'answer' | 'owner'> & { readonly owner: string }>('asks', {
  id: 'id',
  kind: 'kind',
  callId: 'call_id',
  run: 'run',
  tool: 'tool',
  caller: 'caller',
  hash: 'hash',
  request: 'request',
  askedAt: 'asked_at',
  expiresAt: 'expires_at',
  owner: 'owner',
  state: 'state',
  used: flag('used'),
})
const ANSWERS = entity<StoredAnswer>('asks', {
  reply: 'reply',
  by: 'answered_by',
  via: 'answered_via',
  at: 'answered_at',
})
const BRIEFS = entity<ApprovalBrief>('asks', {
  id: 'id',
  kind: 'kind',
  caller: 'caller',
  askedAt: 'asked_at',
  expiresAt: 'expires_at',
  state: 'state',
})

interface ApprovalRow {
  readonly id: string
  readonly owner: string
  readonly state: StoredApproval['state']
  readonly reply: string | null
}

const COLUMNS = `${REQUESTS.columns}, ${ANSWERS.columns}`
const NEWEST_FIRST = 'asked_at DESC, id DESC'
const LIST = { select: `SELECT ${COLUMNS} FROM asks`, order: NEWEST_FIRST }
/** All columns are in the index of states, so no request is read, however large. */
const LIST_BRIEFS = { select: `SELECT ${BRIEFS.columns} FROM asks`, order: NEWEST_FIRST }
const FIND = `SELECT ${COLUMNS} FROM asks WHERE id = ?`
const ANSWER = `UPDATE asks SET state = 'answered', reply = ?, answered_by = ?, answered_via = ?, answered_at = ?
 WHERE id = ? AND state = 'waiting' AND expires_at >= ? RETURNING ${COLUMNS}`
const WITHDRAW = `UPDATE asks SET state = ? WHERE id = ? AND state = 'waiting' RETURNING ${COLUMNS}`
const FIND_OPEN = `SELECT ${COLUMNS} FROM asks WHERE hash = ? AND caller = ?
 AND ((state = 'waiting' AND expires_at >= ?) OR (state = 'answered' AND used = 0))
 ORDER BY ${NEWEST_FIRST} LIMIT ?`
const ADOPT = `UPDATE asks SET owner = ? WHERE id = ? AND owner = ?
 AND (state = 'waiting' OR (state = 'answered' AND used = 0)) RETURNING ${COLUMNS}`
const LEAVE = `UPDATE asks SET owner = ? WHERE id = ? AND state = 'waiting' RETURNING ${COLUMNS}`
const USE = `UPDATE asks SET used = 1 WHERE id = ? AND state = 'answered' AND used = 0 RETURNING ${COLUMNS}`

/** This many requests of one call are searched for one whose process has ended. */
const MAX_ADOPTABLE = 100
const STATES: readonly StoredApproval['state'][] = ['waiting', 'answered', 'withdrawn', 'expired']

/** `owner` of a request that no process waits for: the column takes no NULL. */
const NOBODY = ''
/** The same as earlier versions wrote it: a process id that no process has. */
const EARLIER_NOBODY = '{"pid":2147483647,'

/** Approval requests and questions; every change is an event. */
export function createApprovals({
  events,
  now,
}: {
  readonly events: EventLog
  readonly now: () => number
}): Repository<ApprovalStore> {
  /** Makes a change together with its event; a single statement needs no lock. */
  function* change(
    at: number,
    work: () => Work<ApprovalRow | undefined>,
    locks: readonly string[] = [],
  ): Work<StoredApproval | undefined> {
    const changed = yield* transaction(function* () {
      const row = yield* work()
      if (!row) return undefined
      const event = { topic: 'ask', body: JSON.stringify({ id: row.id, state: row.state }), at }
      return { row, event: { seq: yield* events.write(event), ...event } }
    }, locks)
    if (!changed) return undefined
    events.announce(changed.event)
    return toApproval(changed.row)
  }
  return {
    *file(request, limit) {
      const { id, caller, owner, askedAt } = request
      const add = function* () {
        if (limit) assertFewWaiting(request, yield* countWaiting(caller, askedAt), limit)
        const values = REQUESTS.values({ ...request, owner: owner ?? NOBODY, state: 'waiting', used: false })
        if ((yield* run(`${REQUESTS.insert} ON CONFLICT (id) DO NOTHING`, ...values)) === 0)
          throw new ToolError('CONFLICT', `There is an approval request ${id} already.`)
        return yield* get<ApprovalRow>(FIND, id)
      }
      yield* change(askedAt, add, [`approvals:${caller}`])
    },
    *answer(id, { reply, by, via, at }) {
      const won = yield* change(at, () => get(ANSWER, reply, by, via, at, id, at))
      if (won) return { won: true, ask: won }
      const ask = yield* find(id)
      return ask && { won: false, ask }
    },
    *withdraw(id, state) {
      yield* change(now(), () => get(WITHDRAW, state, id))
    },
    *adopt({ hash, caller, owner, now }) {
      for (const { id, owner: before } of yield* all<ApprovalRow>(FIND_OPEN, hash, caller, now, MAX_ADOPTABLE)) {
        if (isOwnerAlive(toOwner(before))) continue
        // Another process may have adopted or used it since it was read.
        const adopted = yield* change(now, () => get(ADOPT, owner ?? NOBODY, id, before))
        if (adopted) return adopted
      }
      return undefined
    },
    *leave(id, owner) {
      yield* change(now(), () => get(LEAVE, owner ?? NOBODY, id))
    },
    *use(id) {
      yield* change(now(), () => get(USE, id))
    },
    find,
    *list({ state, kind, before, limit } = {}) {
      const conditions: Condition[] = [
        ['state = ?', state],
        ['kind = ?', kind],
        ['asked_at < ?', before ?? ANY_TIME],
      ]
      return (yield* page<ApprovalRow>(LIST, conditions, limit)).map(toApproval)
    },
    *briefs({ state, kind, caller, before, limit } = {}) {
      const briefs: ApprovalBrief[] = []
      for (const each of state ? [state] : STATES) {
        const conditions: Condition[] = [
          ['state = ?', each],
          ['kind = ?', kind],
          ['caller = ?', caller],
          ['asked_at < ?', before ?? ANY_TIME],
        ]
        for (const row of yield* page(LIST_BRIEFS, conditions, limit)) briefs.push(BRIEFS.read(row))
      }
      return briefs.sort((a, b) => b.askedAt - a.askedAt || compareIds(b.id, a.id)).slice(0, pageSize(limit))
    },
  }
}

/** Refuses one more request of a caller with too many that wait: people also have those of others to answer. */
export function assertFewWaiting(
  { caller }: Pick<NewApproval, 'caller'>,
  waiting: number,
  { maxWaiting }: { readonly maxWaiting: number },
): void {
  if (waiting < maxWaiting) return
  const who = escapeLine(caller).slice(0, 200)
  throw new ToolError('RATE_LIMITED', `${waiting} approval requests of ${who} are waiting for an answer already.`, {
    hint: 'Wait until people have answered some of them, then make the call again.',
    retryable: true,
  })
}

const GRANTS = entity<StoredGrant>('grants', {
  id: 'id',
  tool: 'tool',
  body: 'body',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
})
const LIST_GRANTS = `SELECT ${GRANTS.columns} FROM grants ORDER BY created_at, id`
const LIST_GRANTS_OF_TOOL = `SELECT ${GRANTS.columns} FROM grants WHERE tool = ? ORDER BY created_at, id`

/** Grants. */
export const grants: Repository<GrantStore> = {
  *put(grant) {
    yield* run(GRANTS.upsert('id'), ...GRANTS.values(grant))
  },
  *list({ tool } = {}) {
    const rows = yield* tool === undefined ? all(LIST_GRANTS) : all(LIST_GRANTS_OF_TOOL, tool)
    return rows.map((row) => GRANTS.read(row))
  },
  *remove(id) {
    return (yield* run('DELETE FROM grants WHERE id = ?', id)) > 0
  },
}

function* find(id: string): Work<StoredApproval | undefined> {
  const row = yield* get<ApprovalRow>(FIND, id)
  return row && toApproval(row)
}

function countWaiting(caller: string, now: number): Work<number> {
  return count(`asks WHERE caller = ? AND state = 'waiting' AND expires_at >= ?`, caller, now)
}

function toApproval(row: ApprovalRow): StoredApproval {
  const { owner, state, used, ...request } = REQUESTS.read(row)
  return {
    ...request,
    owner: toOwner(owner),
    state,
    ...(row.reply !== null && { answer: ANSWERS.read(row) }),
    used,
  }
}

function toOwner(owner: string): string | null {
  return owner === NOBODY || owner.startsWith(EARLIER_NOBODY) ? null : owner
}
