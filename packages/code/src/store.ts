import {
  ANY_TIME,
  all,
  defineStore,
  entity,
  flag,
  get,
  json,
  page,
  type Repository,
  run,
  transaction,
} from '@tool-hub/core/sql'
import type { LedgerLine, SavedScript, SavedScriptStore, ScriptStore, StoredScript } from './types.ts'

const TABLES = `
CREATE TABLE scripts (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  caller TEXT NOT NULL,
  principal TEXT,
  sha256 TEXT NOT NULL,
  source TEXT NOT NULL,
  setup TEXT NOT NULL,
  status TEXT NOT NULL,
  approvals TEXT NOT NULL,
  outcome TEXT,
  owner TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX scripts_age ON scripts (created_at);
CREATE TABLE script_calls (
  script TEXT NOT NULL,
  position BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  tool TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  line BIGINT,
  call_id TEXT,
  status TEXT NOT NULL,
  untrusted INTEGER NOT NULL,
  answer TEXT,
  ref TEXT,
  PRIMARY KEY (script, position)
);
`

const SAVED_TABLE = `
CREATE TABLE saved_scripts (
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  source TEXT NOT NULL,
  input_schema TEXT NOT NULL,
  saved_by TEXT NOT NULL,
  saved_at BIGINT NOT NULL
);
`

const SCRIPTS = entity<StoredScript>('scripts', {
  id: 'id',
  run: 'run',
  caller: 'caller',
  principal: 'principal',
  sha256: 'sha256',
  source: 'source',
  setup: 'setup',
  status: 'status',
  approvals: json('approvals'),
  outcome: 'outcome',
  owner: 'owner',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})
const LINES = entity<LedgerLine>('script_calls', {
  position: 'position',
  seq: 'seq',
  tool: 'tool',
  argsHash: 'args_hash',
  line: 'line',
  callId: 'call_id',
  status: 'status',
  isUntrusted: flag('untrusted'),
  answer: 'answer',
  ref: 'ref',
})

const SAVED = entity<SavedScript>('saved_scripts', {
  name: 'name',
  description: 'description',
  sha256: 'sha256',
  source: 'source',
  inputSchema: json('input_schema'),
  savedBy: 'saved_by',
  savedAt: 'saved_at',
})

const LIST = { select: `SELECT ${SCRIPTS.columns} FROM scripts`, order: 'created_at DESC, id DESC' }
const INSERT_LINE = `INSERT INTO script_calls (script, ${LINES.columns}) VALUES (?, ${LINES.marks})`
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
      for (const line of lines) yield* run(INSERT_LINE, script.id, ...LINES.values(line))
    }),
  append: (script, line, owner) =>
    transaction(
      function* () {
        // Locks the row, so that nobody takes the script over in the meantime.
        if ((yield* run(CONFIRM_OWNER, script, owner)) === 0) return false
        yield* run(INSERT_LINE, script, ...LINES.values(line))
        return true
      },
      [`script:${script}`],
    ),
  *change({ id, from, status, owner, approvals, outcome, at }) {
    const values = [status, owner, JSON.stringify(approvals), outcome, at]
    return (yield* run(CHANGE, ...values, id, from, from)) === 1
  },
  *find(id) {
    const row = yield* get(`${LIST.select} WHERE id = ?`, id)
    return row ? SCRIPTS.read(row) : undefined
  },
  *lines(id) {
    const rows = yield* all(`SELECT ${LINES.columns} FROM script_calls WHERE script = ? ORDER BY position`, id)
    return rows.map((row) => LINES.read(row))
  },
  *list({ run: runId, principal, status, before = ANY_TIME, limit }) {
    const rows = yield* page(
      LIST,
      [
        ['created_at < ?', before],
        ['run = ?', runId],
        ['principal = ?', principal],
        ['status = ?', status],
      ],
      limit,
    )
    return rows.map((row) => SCRIPTS.read(row))
  },
}

const SELECT_SAVED = `SELECT ${SAVED.columns} FROM saved_scripts`

/** Scripts that are tools. */
const savedRepository: Repository<SavedScriptStore> = {
  *add(script) {
    return (yield* run(`${SAVED.insert} ON CONFLICT (name) DO NOTHING`, ...SAVED.values(script))) === 1
  },
  *find(name) {
    const row = yield* get(`${SELECT_SAVED} WHERE name = ?`, name)
    return row ? SAVED.read(row) : undefined
  },
  *list() {
    return (yield* all(`${SELECT_SAVED} ORDER BY name`)).map((row) => SAVED.read(row))
  },
  *remove(name) {
    return (yield* run('DELETE FROM saved_scripts WHERE name = ?', name)) === 1
  },
}

/** Scripts that were suspended, with their calls, and scripts that are tools. */
export const codeStore = defineStore<{ scripts: ScriptStore; savedScripts: SavedScriptStore }>({
  repositories: { scripts: repository, savedScripts: savedRepository },
  migrations: { 18: TABLES, 19: SAVED_TABLE },
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
