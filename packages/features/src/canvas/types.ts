import type { Awaitable } from '@tool-hub/core'
import type { Immutable } from '@tool-hub/core/lib'
import type { z } from 'zod'
import type { canvasDetail, canvasEntry, canvasVersion } from './schema.ts'

/** The kinds of content of a canvas. */
export const CANVAS_KINDS = ['html', 'markdown', 'mermaid', 'vega-lite', 'form'] as const

/** The kind of content of a canvas. */
export type CanvasKind = (typeof CANVAS_KINDS)[number]

/** Options of canvases. */
export interface CanvasOptions {
  /** Maximum size of one content. Default: 2 MB. */
  readonly maxBytes?: number
  /** Maximum number of canvases of a run. Default: 50. */
  readonly maxCanvases?: number
  /** Maximum number of listed versions of a canvas. Older ones stay artifacts of the run. Default: 200. */
  readonly maxVersions?: number
}

/** A version of a canvas; its content is an artifact of the run. */
export type CanvasVersion = Immutable<z.infer<typeof canvasVersion>>

/** Content that an agent shows to people in the console. */
export type Canvas = Immutable<z.infer<typeof canvasEntry>>

/** A canvas with its listed versions. */
export type CanvasDetail = Immutable<z.infer<typeof canvasDetail>>

/** Content to show. */
export interface CanvasContent {
  /** Kind of `content`. */
  readonly kind: CanvasKind
  /** The source text; its maximum size is the option `maxBytes`. */
  readonly content: string
  /** Heading above the content. Default: the current title, or the name of a new canvas. */
  readonly title?: string
}

/** Which version of a canvas to draw, and its size. */
export interface DrawOptions {
  /** Default: the latest. */
  readonly version?: number
  /** Pixels. Default: 1024. */
  readonly width?: number
  /** Pixels. Default: 768. */
  readonly height?: number
}

/** A canvas as drawn by a browser without network. */
export interface CanvasDrawing {
  /** The canvas that was drawn. */
  readonly canvas: Canvas
  /** Number of the version that was drawn. */
  readonly version: number
  /** The screenshot. */
  readonly png: Uint8Array
  /** The return value of the script, as JSON. */
  readonly value?: unknown
  /** The last errors of its console. */
  readonly errors: readonly string[]
  /** Why the content could not be drawn, such as a syntax error in a diagram; absent if it was. */
  readonly problem?: string
}

/** The handle of a tool that declares the capability; it reaches the canvases of the call's own run. */
export interface CanvasHandle {
  /** Shows a canvas. If the run already has one of that name, it gets a new version and is shown again. */
  present(wish: CanvasContent & { readonly name?: string }): Promise<Canvas>
  /** Adds a version. Throws `NOT_FOUND` if the canvas does not exist. */
  update(canvas: string, wish: Omit<CanvasContent, 'kind'> & { readonly kind?: CanvasKind }): Promise<Canvas>
  /** Hides a canvas; `present` shows it again. */
  hide(canvas: string): Promise<Canvas>
  /** The canvases of the run, newest first, including hidden ones. */
  list(): Promise<readonly Canvas[]>
  /** A screenshot of a canvas. */
  snapshot(canvas: string, options?: DrawOptions): Promise<CanvasDrawing>
  /** Runs a script in a canvas; returns its value and a screenshot taken afterwards. */
  evaluate(canvas: string, script: string, options?: DrawOptions): Promise<CanvasDrawing>
}

/** Which canvases to list. */
export interface CanvasFilter {
  /** Only those of this run. Default: all. */
  readonly run?: string
  /** Only those of this principal. Default: all. */
  readonly principal?: string
  /** Only hidden ones, or only visible ones. Default: both. */
  readonly hidden?: boolean
  /** Only those created before this time. */
  readonly before?: number
  /** Maximum number of canvases. */
  readonly limit?: number
}

/** How to write a canvas as a page. */
export interface CanvasPageOptions {
  /** Default: the latest. */
  readonly version?: number
  /** Colour scheme of the page. Default: `light`. */
  readonly theme?: 'light' | 'dark'
  /** Host and path of the drawing scripts, `127.0.0.1:4040/v1/canvas-scripts`. Default: they are inlined. */
  readonly scripts?: string
}

/** What the owner of a hub uses. */
export interface CanvasService {
  /** Newest first. */
  list(filter?: CanvasFilter): Promise<readonly Canvas[]>
  /** A canvas with its versions; `undefined` if there is none. */
  find(id: string): Promise<CanvasDetail | undefined>
  /** The content as the agent gave it, with secrets redacted. Throws `NOT_FOUND` if the canvas or the version does not exist. */
  content(id: string, version?: number): Promise<{ readonly version: CanvasVersion; readonly text: string }>
  /** A complete HTML page that shows the canvas in a frame without network. */
  document(id: string, options?: CanvasPageOptions): Promise<string>
  /** Hides a canvas; its versions stay stored. */
  hide(id: string, options: { readonly by: string }): Promise<void>
}

/** Canvases that agents show to people; their contents are artifacts of the runs. */
export interface CanvasStore {
  /** Adds a canvas, unless its run has one of that name or `maxOfRun` already. */
  add(canvas: NewCanvas, limit: { readonly maxOfRun: number }): Awaitable<'added' | 'taken' | 'full'>
  /** Adds the next version, shows the canvas again and drops versions beyond `keep`; `undefined` if the canvas does not exist. */
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
type NewCanvasVersion = Omit<CanvasVersion, 'n'> & { readonly title: string; readonly tainted: boolean }
