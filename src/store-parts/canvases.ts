import type { Canvas, CanvasDetail, CanvasFilter, CanvasVersion } from '../contracts/canvas.ts'
import type { Awaitable } from '../store.ts'

/** What agents show to people; the contents are artifacts of the runs. */
export interface CanvasStore {
  /** Adds one unless its run has the name already, or so many. */
  add(canvas: NewCanvas, limit: { readonly mostOfRun: number }): Awaitable<'added' | 'taken' | 'full'>
  /** Adds the next version, shows the canvas again, and forgets versions beyond `keep`; undefined when there is no such canvas. */
  addVersion(id: string, version: NewCanvasVersion, limit: { readonly keep: number }): Awaitable<Canvas | undefined>
  /** Whether there is one. */
  hide(id: string, at: number): Awaitable<boolean>
  /** A canvas with its versions; `undefined` if there is none. */
  find(id: string): Awaitable<CanvasDetail | undefined>
  /** By the name that it has in its run. */
  findNamed(run: string, name: string): Awaitable<Canvas | undefined>
  /** Newest first. */
  list(filter: CanvasFilter): Awaitable<readonly Canvas[]>
}

/** A canvas with its first version. */
export type NewCanvas = Omit<Canvas, 'hidden' | 'updatedAt' | 'latest'> & {
  /** Its first version, which gets the number 1. */
  readonly version: Omit<CanvasVersion, 'n' | 'at'>
}

/** What changes with a version. */
export type NewCanvasVersion = Omit<CanvasVersion, 'n'> & { readonly title: string; readonly tainted: boolean }
