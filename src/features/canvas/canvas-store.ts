import type { Awaitable } from '../../core/store.ts'
import type { Canvas, CanvasDetail, CanvasFilter, CanvasVersion } from './types.ts'

/** Canvases that agents show to people; their contents are artifacts of the runs. */
export interface CanvasStore {
  /** Adds a canvas, unless its run has one of that name or `maxOfRun` already. */
  add(canvas: NewCanvas, limit: { readonly maxOfRun: number }): Awaitable<'added' | 'taken' | 'full'>
  /** Adds the next version, shows the canvas again and drops versions beyond `keep`; `undefined` if there is no such canvas. */
  addVersion(id: string, version: NewCanvasVersion, limit: { readonly keep: number }): Awaitable<Canvas | undefined>
  /** Hides a canvas; whether it exists. */
  hide(id: string, at: number): Awaitable<boolean>
  /** A canvas with its versions; `undefined` if there is none. */
  find(id: string): Awaitable<CanvasDetail | undefined>
  /** A canvas by its name in its run. */
  findNamed(run: string, name: string): Awaitable<Canvas | undefined>
  /** Newest first. */
  list(filter: CanvasFilter): Awaitable<readonly Canvas[]>
}

/** A canvas with its first version. */
export type NewCanvas = Omit<Canvas, 'hidden' | 'updatedAt' | 'latest'> & {
  /** Its first version, which gets the number 1. */
  readonly version: Omit<CanvasVersion, 'n' | 'at'>
}

/** A new version, with the title and taint that the canvas gets. */
export type NewCanvasVersion = Omit<CanvasVersion, 'n'> & { readonly title: string; readonly tainted: boolean }
