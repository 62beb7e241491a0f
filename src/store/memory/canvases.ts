import type { Canvas, CanvasDetail, CanvasFilter } from '../../contracts/canvas.ts'
import type { CanvasStore, NewCanvas, NewCanvasVersion } from '../../store-parts/canvases.ts'
import { compareIds } from '../rules/compare-ids.ts'
import { pageSize } from '../rules/page-size.ts'
import { assertRoom } from './assert-room.ts'

/** Canvases in memory. */
export class MemoryCanvases implements CanvasStore {
  readonly #canvases = new Map<string, CanvasDetail>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  add({ version, ...canvas }: NewCanvas, { mostOfRun }: { mostOfRun: number }): 'added' | 'taken' | 'full' {
    const ofRun = [...this.#canvases.values()].filter(({ run }) => run === canvas.run)
    if (ofRun.some(({ name }) => name === canvas.name)) return 'taken'
    if (ofRun.length >= mostOfRun) return 'full'
    assertRoom(this.#canvases, this.#max, 'canvases')
    const at = canvas.createdAt
    const latest = { n: 1, ...version, at }
    this.#canvases.set(canvas.id, { ...canvas, hidden: false, updatedAt: at, latest, versions: [latest] })
    return 'added'
  }

  addVersion(id: string, { title, tainted, ...added }: NewCanvasVersion, { keep }: { keep: number }) {
    const canvas = this.#canvases.get(id)
    if (!canvas) return undefined
    const latest = { n: canvas.latest.n + 1, ...added }
    const versions = [...canvas.versions, latest].filter(({ n }) => n > latest.n - keep)
    const isTainted = canvas.tainted || tainted
    const changed = { title, tainted: isTainted, hidden: false, updatedAt: added.at, latest, versions }
    this.#canvases.set(id, { ...canvas, ...changed })
    return brief(this.#canvases.get(id)!)
  }

  hide(id: string, at: number): boolean {
    const canvas = this.#canvases.get(id)
    if (canvas) this.#canvases.set(id, { ...canvas, hidden: true, updatedAt: at })
    return canvas !== undefined
  }

  find(id: string): CanvasDetail | undefined {
    return this.#canvases.get(id)
  }

  findNamed(run: string, name: string): Canvas | undefined {
    const found = [...this.#canvases.values()].find((canvas) => canvas.run === run && canvas.name === name)
    return found && brief(found)
  }

  list({ run, principal, hidden, before = Number.POSITIVE_INFINITY, limit }: CanvasFilter): readonly Canvas[] {
    return [...this.#canvases.values()]
      .filter(
        (canvas) =>
          canvas.createdAt < before &&
          (run === undefined || canvas.run === run) &&
          (principal === undefined || canvas.principal === principal) &&
          (hidden === undefined || canvas.hidden === hidden),
      )
      .sort((a, b) => b.createdAt - a.createdAt || compareIds(b.id, a.id))
      .slice(0, pageSize(limit))
      .map(brief)
  }
}

function brief({ versions: _, ...canvas }: CanvasDetail): Canvas {
  return canvas
}
