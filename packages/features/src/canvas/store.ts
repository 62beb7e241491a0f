import {
  ANY_TIME,
  column,
  count,
  defineStore,
  defineTable,
  type Entity,
  get,
  optional,
  page,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import type { Canvas, CanvasStore, CanvasVersion, NewCanvas } from './types.ts'

/** The latest version is joined by its number, so that a list reads no other versions. */
const CANVASES = defineTable(
  'canvases',
  10,
  {
    id: column.text({ key: true }),
    run: column.text(),
    name: column.text(),
    title: column.text(),
    kind: column.text<Canvas['kind']>(),
    caller: column.text(),
    principal: optional.text(),
    hidden: column.flag(),
    tainted: column.flag(),
    lastVersion: column.bigint(),
    createdAt: column.bigint(),
    updatedAt: column.bigint(),
  },
  { unique: ['run', 'name'], indexes: { age: ['createdAt'] } },
)
const CANVAS = CANVASES.without('lastVersion') satisfies Entity<Omit<Canvas, 'latest'>>
const CANVAS_VERSIONS = defineTable(
  'canvas_versions',
  10,
  {
    canvas: column.text(),
    n: column.bigint(),
    artifact: column.text(),
    bytes: column.bigint(),
    at: column.bigint({ name: 'created_at' }),
    callId: column.text(),
  },
  { key: ['canvas', 'n'] },
)
const VERSIONS = CANVAS_VERSIONS.without('canvas') satisfies Entity<CanvasVersion>

const SELECT = `SELECT ${CANVAS.columnsOf('c')}, ${VERSIONS.columnsOf('v')}
 FROM canvases c JOIN canvas_versions v ON v.canvas = c.id AND v.n = c.last_version`
const LIST = { select: SELECT, order: 'c.created_at DESC, c.id DESC' }
const FIND = `${SELECT} WHERE c.id = ?`
const FIND_NAMED = `${SELECT} WHERE c.run = ? AND c.name = ?`
const INSERT = `${CANVASES.insert} ON CONFLICT (run, name) DO NOTHING`
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
      yield* run(CANVAS_VERSIONS.insert, ...CANVAS_VERSIONS.values({ canvas: id, n, ...version }))
      yield* run('DELETE FROM canvas_versions WHERE canvas = ? AND n <= ?', id, n - keep)
      return toCanvas(yield* get(FIND, id))
    }),
  *hide(id, at) {
    return (yield* run('UPDATE canvases SET hidden = 1, updated_at = ? WHERE id = ?', at, id)) > 0
  },
  *find(id) {
    const row = yield* get(FIND, id)
    if (!row) return undefined
    return { ...toCanvas(row), versions: yield* VERSIONS.list('WHERE canvas = ? ORDER BY n', id) }
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
  tables: [CANVASES, CANVAS_VERSIONS],
  durable: { canvases: ['add', 'addVersion', 'hide'] },
  bounds: { canvases: [{ table: 'canvases', methods: ['add'], what: 'canvases' }] },
})

function* add({ version, ...canvas }: NewCanvas, maxOfRun: number): Work<'added' | 'taken' | 'full'> {
  if (yield* get(FIND_NAMED, canvas.run, canvas.name)) return 'taken'
  if ((yield* count('canvases WHERE run = ?', canvas.run)) >= maxOfRun) return 'full'
  const at = canvas.createdAt
  yield* run(INSERT, ...CANVASES.values({ ...canvas, hidden: false, lastVersion: 1, updatedAt: at }))
  yield* run(CANVAS_VERSIONS.insert, ...CANVAS_VERSIONS.values({ ...version, canvas: canvas.id, n: 1, at }))
  return 'added'
}

function toCanvas(row: unknown): Canvas {
  return { ...CANVAS.read(row, 'c'), latest: VERSIONS.read(row, 'v') }
}
