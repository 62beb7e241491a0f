import type { Canvas, CanvasDetail, CanvasKind, CanvasVersion } from '../../contracts/canvas.ts'
import type { CanvasStore, NewCanvas } from '../../store-parts/canvases.ts'
import { pageSize } from '../rules/page-size.ts'
import type { Connection } from './connection.ts'
import { ANY_TIME, filteredQuery } from './filtered-query.ts'

interface VersionRow {
  readonly n: number
  readonly artifact: string
  readonly bytes: number
  readonly created_at: number
  readonly call_id: string
}

interface CanvasRow {
  readonly id: string
  readonly run: string
  readonly name: string
  readonly title: string
  readonly kind: string
  readonly caller: string
  readonly principal: string | null
  readonly hidden: number
  readonly tainted: number
  readonly created_at: number
  readonly updated_at: number
  readonly n: number
  readonly artifact: string
  readonly bytes: number
  readonly shown_at: number
  readonly call_id: string
}

const SELECT = `SELECT c.id, c.run, c.name, c.title, c.kind, c.caller, c.principal, c.hidden, c.tainted, c.created_at,
  c.updated_at, v.n, v.artifact, v.bytes, v.created_at AS shown_at, v.call_id
  FROM canvases c JOIN canvas_versions v ON v.canvas = c.id AND v.n = c.last_version`

/** Canvases in the file. */
export function createCanvases(connection: Connection): CanvasStore {
  const ofRun = connection.statement<{ n: number }>('SELECT COUNT(*) AS n FROM canvases WHERE run = ?')
  const insert = connection.statement(
    `INSERT INTO canvases (id, run, name, title, kind, caller, principal, hidden, tainted, last_version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, 1, ?, ?) ON CONFLICT (run, name) DO NOTHING`,
  )
  const insertVersion = connection.statement(
    'INSERT INTO canvas_versions (canvas, n, artifact, bytes, created_at, call_id) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const raise = connection.statement<{ last_version: number }>(
    `UPDATE canvases SET last_version = last_version + 1, title = ?, tainted = CASE WHEN tainted = 1 THEN 1 ELSE ? END,
     hidden = 0, updated_at = ? WHERE id = ? RETURNING last_version`,
  )
  const forget = connection.statement('DELETE FROM canvas_versions WHERE canvas = ? AND n <= ?')
  const hide = connection.statement('UPDATE canvases SET hidden = 1, updated_at = ? WHERE id = ?')
  const byId = connection.statement<CanvasRow>(`${SELECT} WHERE c.id = ?`)
  const byName = connection.statement<CanvasRow>(`${SELECT} WHERE c.run = ? AND c.name = ?`)
  const versions = connection.statement<VersionRow>(
    'SELECT n, artifact, bytes, created_at, call_id FROM canvas_versions WHERE canvas = ? ORDER BY n',
  )
  const list = filteredQuery<CanvasRow>(connection, { select: SELECT, order: 'c.created_at DESC, c.id DESC' })

  const add = (canvas: NewCanvas, mostOfRun: number) => {
    const { id, run, name, title, kind, caller, principal, tainted, createdAt: at, version } = canvas
    if (byName.get(run, name)) return 'taken'
    if (ofRun.get(run)!.n >= mostOfRun) return 'full'
    insert.run(id, run, name, title, kind, caller, principal, tainted ? 1 : 0, at, at)
    insertVersion.run(id, 1, version.artifact, version.bytes, at, version.callId)
    return 'added'
  }
  return {
    add: (canvas, { mostOfRun }) => connection.transaction(() => add(canvas, mostOfRun)),
    addVersion: (id, { title, tainted, artifact, bytes, at, callId }, { keep }) =>
      connection.transaction(() => {
        const n = raise.get(title, tainted ? 1 : 0, at, id)?.last_version
        if (n === undefined) return undefined
        insertVersion.run(id, n, artifact, bytes, at, callId)
        forget.run(id, n - keep)
        return toCanvas(byId.get(id)!)
      }),
    hide: (id, at) => hide.run(at, id) > 0,
    find(id): CanvasDetail | undefined {
      const row = byId.get(id)
      return row && { ...toCanvas(row), versions: versions.all(id).map(toVersion) }
    },
    findNamed(run, name) {
      const row = byName.get(run, name)
      return row && toCanvas(row)
    },
    list: ({ run, principal, hidden, before = ANY_TIME, limit }) =>
      list(
        [
          ['c.created_at < ?', before],
          ['c.run = ?', run],
          ['c.principal = ?', principal],
          ['c.hidden = ?', hidden === undefined ? undefined : Number(hidden)],
        ],
        pageSize(limit),
      ).map(toCanvas),
  }
}

function toCanvas(row: CanvasRow): Canvas {
  return {
    id: row.id,
    name: row.name,
    title: row.title,
    kind: row.kind as CanvasKind,
    run: row.run,
    caller: row.caller,
    ...(row.principal !== null && { principal: row.principal }),
    hidden: row.hidden === 1,
    tainted: row.tainted === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    latest: toVersion({ ...row, created_at: row.shown_at }),
  }
}

function toVersion({ n, artifact, bytes, created_at, call_id }: VersionRow): CanvasVersion {
  return { n, artifact, bytes, at: created_at, callId: call_id }
}
