import {
  ANY_TIME,
  all,
  count,
  defineStore,
  entity,
  flag,
  get,
  page,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import type { Canvas, CanvasStore, CanvasVersion, NewCanvas } from './types.ts'

/** The latest version is joined by its number, so that a list reads no other versions. */
const TABLES = `
CREATE TABLE canvases (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  caller TEXT NOT NULL,
  principal TEXT,
  hidden INTEGER NOT NULL,
  tainted INTEGER NOT NULL,
  last_version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (run, name)
);
CREATE INDEX canvases_age ON canvases (created_at);
CREATE TABLE canvas_versions (
  canvas TEXT NOT NULL,
  n BIGINT NOT NULL,
  artifact TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  call_id TEXT NOT NULL,
  PRIMARY KEY (canvas, n)
);
`

const CANVASES = entity<Omit<Canvas, 'latest'>>('canvases', {
  id: 'id',
  name: 'name',
  title: 'title',
  kind: 'kind',
  run: 'run',
  caller: 'caller',
  principal: 'principal',
  hidden: flag('hidden'),
  tainted: flag('tainted'),
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})
const VERSIONS = entity<CanvasVersion>('canvas_versions', {
  n: 'n',
  artifact: 'artifact',
  bytes: 'bytes',
  at: 'created_at',
  callId: 'call_id',
})

const SELECT = `SELECT ${CANVASES.columnsOf('c')}, ${VERSIONS.columnsOf('v')}
 FROM canvases c JOIN canvas_versions v ON v.canvas = c.id AND v.n = c.last_version`
const LIST = { select: SELECT, order: 'c.created_at DESC, c.id DESC' }
const FIND = `${SELECT} WHERE c.id = ?`
const FIND_NAMED = `${SELECT} WHERE c.run = ? AND c.name = ?`
const INSERT = `INSERT INTO canvases (${CANVASES.columns}, last_version) VALUES (${CANVASES.marks}, 1)
 ON CONFLICT (run, name) DO NOTHING`
const INSERT_VERSION = `INSERT INTO canvas_versions (canvas, ${VERSIONS.columns}) VALUES (?, ${VERSIONS.marks})`
const NEXT_VERSION = `UPDATE canvases SET last_version = last_version + 1, title = ?,
 tainted = CASE WHEN tainted = 1 THEN 1 ELSE ? END, hidden = 0, updated_at = ? WHERE id = ? RETURNING last_version`

/** Canvases; the version that is shown has a row of its own, so that a list reads no others. */
const repository: Repository<CanvasStore> = {
  add: (canvas, { maxOfRun }) => transaction(() => add(canvas, maxOfRun)),
  addVersion: (id, { title, tainted, ...version }, { keep }) =>
    transaction(function* () {
      const next = yield* get<{ last_version: number }>(NEXT_VERSION, title, tainted ? 1 : 0, version.at, id)
      if (!next) return undefined
      const n = next.last_version
      yield* run(INSERT_VERSION, id, ...VERSIONS.values({ n, ...version }))
      yield* run('DELETE FROM canvas_versions WHERE canvas = ? AND n <= ?', id, n - keep)
      return toCanvas(yield* get(FIND, id))
    }),
  *hide(id, at) {
    return (yield* run('UPDATE canvases SET hidden = 1, updated_at = ? WHERE id = ?', at, id)) > 0
  },
  *find(id) {
    const row = yield* get(FIND, id)
    if (!row) return undefined
    const versions = yield* all(`SELECT ${VERSIONS.columns} FROM canvas_versions WHERE canvas = ? ORDER BY n`, id)
    return { ...toCanvas(row), versions: versions.map((version) => VERSIONS.read(version)) }
  },
  *findNamed(runId, name) {
    const row = yield* get(FIND_NAMED, runId, name)
    return row ? toCanvas(row) : undefined
  },
  *list({ run: runId, principal, hidden, before = ANY_TIME, limit }) {
    const rows = yield* page(
      LIST,
      [
        ['c.created_at < ?', before],
        ['c.run = ?', runId],
        ['c.principal = ?', principal],
        ['c.hidden = ?', hidden === undefined ? undefined : Number(hidden)],
      ],
      limit,
    )
    return rows.map(toCanvas)
  },
}

/** The canvases that agents show to people. */
export const canvasStore = defineStore<{ canvases: CanvasStore }>({
  repositories: { canvases: repository },
  migrations: { 10: TABLES },
  durable: { canvases: ['add', 'addVersion', 'hide'] },
  bounds: { canvases: [{ table: 'canvases', methods: ['add'], what: 'canvases' }] },
})

function* add({ version, ...canvas }: NewCanvas, maxOfRun: number): Work<'added' | 'taken' | 'full'> {
  if (yield* get(FIND_NAMED, canvas.run, canvas.name)) return 'taken'
  if ((yield* count('canvases WHERE run = ?', canvas.run)) >= maxOfRun) return 'full'
  const at = canvas.createdAt
  yield* run(INSERT, ...CANVASES.values({ ...canvas, hidden: false, updatedAt: at }))
  yield* run(INSERT_VERSION, canvas.id, ...VERSIONS.values({ ...version, n: 1, at }))
  return 'added'
}

function toCanvas(row: unknown): Canvas {
  return { ...CANVASES.read(row, 'c'), latest: VERSIONS.read(row, 'v') }
}
