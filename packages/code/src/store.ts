import {
  ANY_TIME,
  type Condition,
  column,
  defineStore,
  defineTable,
  type Entity,
  optional,
  type Repository,
  run,
  transaction,
} from '@tool-hub/core/sql'
import type { LedgerLine, SavedScript, SavedScriptStore, ScriptStore, StoredScript } from './types.ts'

const SCRIPTS = defineTable(
  'scripts',
  18,
  {
    id: column.text({ key: true }),
    run: column.text(),
    caller: column.text(),
    principal: optional.text(),
    sha256: column.text(),
    source: column.text(),
    setup: column.text(),
    status: column.text<StoredScript['status']>(),
    approvals: column.json<readonly string[]>(),
    outcome: optional.text(),
    owner: optional.text(),
    createdAt: column.bigint(),
    updatedAt: column.bigint(),
  },
  { indexes: { age: ['createdAt'] } },
) satisfies Entity<StoredScript>
const SCRIPT_CALLS = defineTable(
  'script_calls',
  18,
  {
    script: column.text(),
    position: column.bigint(),
    seq: column.bigint(),
    tool: column.text(),
    argsHash: column.text(),
    line: optional.bigint(),
    callId: optional.text(),
    status: column.text(),
    isUntrusted: column.flag({ name: 'untrusted' }),
    answer: optional.text(),
    ref: optional.text(),
  },
  { key: ['script', 'position'] },
)
const LINES = SCRIPT_CALLS.without('script') satisfies Entity<LedgerLine>
const SAVED_SCRIPTS = defineTable('saved_scripts', 19, {
  name: column.text({ key: true }),
  description: column.text(),
  sha256: column.text(),
  source: column.text(),
  inputSchema: column.json<SavedScript['inputSchema']>(),
  savedBy: column.text(),
  savedAt: column.bigint(),
}) satisfies Entity<SavedScript>

const CHANGE = `UPDATE scripts SET status = ?, owner = ?, approvals = ?, outcome = ?, updated_at = ?
 WHERE id = ? AND (owner = ? OR (owner IS NULL AND CAST(? AS TEXT) IS NULL))`
const CONFIRM_OWNER = 'UPDATE scripts SET owner = owner WHERE id = ? AND owner = ?'
/** Scripts that can be evicted: all that have ended. */
const ENDED = `SELECT id AS key FROM scripts WHERE status IN ('completed', 'failed', 'cancelled')
 ORDER BY updated_at LIMIT ?`

const DAY_MS = 86_400_000
/** How long a script is kept after its last change. */
const KEPT_DAYS = 30

/** Scripts and the calls that have ended, so that another process can continue them. */
const repository: Repository<ScriptStore> = {
  add: (script, lines) =>
    transaction(function* () {
      yield* run(SCRIPTS.insert, ...SCRIPTS.values(script))
      for (const line of lines) yield* run(SCRIPT_CALLS.insert, ...SCRIPT_CALLS.values({ ...line, script: script.id }))
    }),
  append: (script, line, owner) =>
    transaction(
      function* () {
        // Locks the row, so that nobody takes the script over in the meantime.
        if ((yield* run(CONFIRM_OWNER, script, owner)) === 0) return false
        yield* run(SCRIPT_CALLS.insert, ...SCRIPT_CALLS.values({ ...line, script }))
        return true
      },
      [`script:${script}`],
    ),
  *change({ id, from, status, owner, approvals, outcome, at }) {
    const values = [status, owner, JSON.stringify(approvals), outcome, at]
    return (yield* run(CHANGE, ...values, id, from, from)) === 1
  },
  find: (id) => SCRIPTS.find('WHERE id = ?', id),
  lines: (id) => LINES.list('WHERE script = ? ORDER BY position', id),
  *list({ run: runId, principal, status, before = ANY_TIME, limit }) {
    const conditions: Condition[] = [
      ['created_at < ?', before],
      ['run = ?', runId],
      ['principal = ?', principal],
      ['status = ?', status],
    ]
    return yield* SCRIPTS.page('created_at DESC, id DESC', conditions, limit)
  },
}

/** Scripts that are tools. */
const savedRepository: Repository<SavedScriptStore> = {
  *add(script) {
    const insert = `${SAVED_SCRIPTS.insert} ON CONFLICT (name) DO NOTHING`
    return (yield* run(insert, ...SAVED_SCRIPTS.values(script))) === 1
  },
  find: (name) => SAVED_SCRIPTS.find('WHERE name = ?', name),
  list: () => SAVED_SCRIPTS.list('ORDER BY name'),
  *remove(name) {
    return (yield* run('DELETE FROM saved_scripts WHERE name = ?', name)) === 1
  },
}

/** Scripts that were suspended, with their calls, and scripts that are tools. */
export const codeStore = defineStore<{ scripts: ScriptStore; savedScripts: SavedScriptStore }>({
  repositories: { scripts: repository, savedScripts: savedRepository },
  tables: [SCRIPTS, SCRIPT_CALLS, SAVED_SCRIPTS],
  // An answer that a script has seen must not be lost: it would make other calls than before.
  durable: { scripts: ['add', 'append', 'change'], savedScripts: ['add', 'remove'] },
  // Every hub looks for saved scripts when it is created.
  emptyAtFirst: { scripts: ['list'], savedScripts: ['list'] },
  *sweep(now) {
    yield* run('DELETE FROM scripts WHERE updated_at < ?', now - KEPT_DAYS * DAY_MS)
    yield* run('DELETE FROM script_calls WHERE script NOT IN (SELECT id FROM scripts)')
  },
  bounds: {
    scripts: [
      { table: 'scripts', methods: ['add'], what: 'suspended scripts', evict: { column: 'id', select: ENDED } },
    ],
    savedScripts: [{ table: 'saved_scripts', methods: ['add'], what: 'saved scripts' }],
  },
})
