import {
  type ApprovalBrief,
  type ApprovalStore,
  type GrantStore,
  type NewApproval,
  type StoredApproval,
  type StoredGrant,
  ToolError,
} from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import {
  ANY_TIME,
  type Condition,
  column,
  compareIds,
  count,
  defineTable,
  type Entity,
  get,
  optional,
  pageSize,
  type Repository,
  type Row,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { isOwnerAlive } from '@tool-hub/sandbox/system'
import type { EventLog } from './events.ts'

/** How long the outcome of an approval request is kept. */
export const APPROVAL_AGE_MS = 30 * 86_400_000

/** The table keeps the name that it had at first. */
export const APPROVALS = defineTable(
  'asks',
  2,
  {
    id: column.text({ key: true }),
    kind: column.text<StoredApproval['kind']>(),
    callId: column.text(),
    run: column.text(),
    tool: column.text(),
    caller: column.text(),
    hash: column.text(),
    request: column.text(),
    askedAt: column.bigint(),
    expiresAt: column.bigint(),
    owner: column.text(),
    state: column.text<StoredApproval['state']>(),
    used: column.flag(),
    reply: optional.text(),
    answeredBy: optional.text(),
    answeredVia: optional.text(),
    answeredAt: optional.bigint(),
  },
  {
    indexes: {
      age: ['askedAt'],
      expiry: ['expiresAt'],
      state: ['state', 'askedAt'],
      hash: ['hash', 'caller'],
    },
  },
)
/** All of these columns are in the index of states, so no request is read, however large. */
const BRIEFS = APPROVALS.part('id', 'kind', 'caller', 'askedAt', 'expiresAt', 'state') satisfies Entity<ApprovalBrief>

type ApprovalRow = Row<typeof APPROVALS>

const COLUMNS = APPROVALS.columns
const NEWEST_FIRST = 'asked_at DESC, id DESC'
const ANSWER = `UPDATE asks SET state = 'answered', reply = ?, answered_by = ?, answered_via = ?, answered_at = ?
 WHERE id = ? AND state = 'waiting' AND expires_at >= ? RETURNING ${COLUMNS}`
const WITHDRAW = `UPDATE asks SET state = ? WHERE id = ? AND state = 'waiting' RETURNING ${COLUMNS}`
const FIND_OPEN = `WHERE hash = ? AND caller = ?
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
    work: () => Work<unknown>,
    locks: readonly string[] = [],
  ): Work<StoredApproval | undefined> {
    const changed = yield* transaction(function* () {
      const found = yield* work()
      if (!found) return undefined
      const row = APPROVALS.read(found)
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
        const values = APPROVALS.values({ ...request, owner: owner ?? NOBODY, state: 'waiting', used: false })
        const added = yield* get(`${APPROVALS.insert} ON CONFLICT (id) DO NOTHING RETURNING ${COLUMNS}`, ...values)
        if (!added) throw new ToolError('CONFLICT', `There is an approval request ${id} already.`)
        return added
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
      for (const { id, owner: before } of yield* APPROVALS.list(FIND_OPEN, hash, caller, now, MAX_ADOPTABLE)) {
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
      return (yield* APPROVALS.page(NEWEST_FIRST, conditions, limit)).map(toApproval)
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
        briefs.push(...(yield* BRIEFS.page(NEWEST_FIRST, conditions, limit)))
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

export const GRANTS = defineTable(
  'grants',
  2,
  {
    id: column.text({ key: true }),
    tool: column.text(),
    body: column.text(),
    createdAt: column.bigint(),
    expiresAt: optional.bigint(),
  },
  { indexes: { tool: ['tool', 'createdAt'] } },
) satisfies Entity<StoredGrant>
const OLDEST_FIRST = 'ORDER BY created_at, id'

/** Grants. */
export const grants: Repository<GrantStore> = {
  *put(grant) {
    yield* run(GRANTS.upsert, ...GRANTS.values(grant))
  },
  *list({ tool } = {}) {
    if (tool === undefined) return yield* GRANTS.list(OLDEST_FIRST)
    return yield* GRANTS.list(`WHERE tool = ? ${OLDEST_FIRST}`, tool)
  },
  *remove(id) {
    return (yield* run('DELETE FROM grants WHERE id = ?', id)) > 0
  },
}

function* find(id: string): Work<StoredApproval | undefined> {
  const row = yield* APPROVALS.find('WHERE id = ?', id)
  return row && toApproval(row)
}

function countWaiting(caller: string, now: number): Work<number> {
  return count(`asks WHERE caller = ? AND state = 'waiting' AND expires_at >= ?`, caller, now)
}

function toApproval(row: ApprovalRow): StoredApproval {
  const { owner, reply, answeredBy, answeredVia, answeredAt, ...request } = row
  const approval = { ...request, owner: toOwner(owner) }
  if (reply === undefined) return approval
  return { ...approval, answer: { reply, by: answeredBy!, via: answeredVia!, at: answeredAt! } }
}

function toOwner(owner: string): string | null {
  return owner === NOBODY || owner.startsWith(EARLIER_NOBODY) ? null : owner
}
