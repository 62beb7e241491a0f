import type { Awaitable } from '../../core/store.ts'

/** What a canvas may be made of. */
export const CANVAS_KINDS = ['html', 'markdown', 'mermaid', 'vega-lite', 'form'] as const

/** One of the kinds. */
export type CanvasKind = (typeof CANVAS_KINDS)[number]

/** What an owner says about what agents show to people. */
export interface CanvasOptions {
  /** Bytes of one content; 2 MB unless said. */
  readonly maxBytes?: number
  /** Canvases of one run; 50 unless said. */
  readonly maxCanvases?: number
  /** Versions that are listed of one canvas; 200 unless said. Older ones stay artifacts of the run. */
  readonly maxVersions?: number
}

/** One content of a canvas; the content itself is an artifact of the run. */
export interface CanvasVersion {
  /** From 1 up. */
  readonly n: number
  /** Its content, `artifact:<sha256>`. */
  readonly artifact: string
  /** Size of the content. */
  readonly bytes: number
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
  /** The call that made it. */
  readonly callId: string
}

/** Something that an agent shows to people. */
export interface Canvas {
  /** Unique among the canvases of all runs. */
  readonly id: string
  /** Unique within its run. */
  readonly name: string
  /** What people read above it. */
  readonly title: string
  /** What its latest version is made of. */
  readonly kind: CanvasKind
  /** The run that shows it. */
  readonly run: string
  /** Who called, as the caller said. */
  readonly caller: string
  /** Who called for certain, where somebody at the door has found that out. */
  readonly principal?: string
  /** Taken out of people's sight. */
  readonly hidden: boolean
  /** It was made by a run that had read content from outside. */
  readonly tainted: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** When its latest version was made, or it was hidden or shown, in milliseconds since 1970. */
  readonly updatedAt: number
  /** The version that people see. */
  readonly latest: CanvasVersion
}

/** The same with all versions that are still listed, oldest first. */
export interface CanvasDetail extends Canvas {
  /** Oldest first. */
  readonly versions: readonly CanvasVersion[]
}

/** What is to be shown. */
export interface CanvasContent {
  /** What `content` is made of. */
  readonly kind: CanvasKind
  /** The source text, at most `maxBytes` of the options. */
  readonly content: string
  /** What people read above it. Default: its name, or the title it has. */
  readonly title?: string
}

/** How a canvas is drawn. */
export interface DrawOptions {
  /** The latest unless said. */
  readonly version?: number
  /** Pixels. Default: 1024. */
  readonly width?: number
  /** Pixels. Default: 768. */
  readonly height?: number
}

/** A canvas as a browser without network drew it. */
export interface CanvasDrawing {
  /** What was drawn. */
  readonly canvas: Canvas
  /** Number of the version that was drawn. */
  readonly version: number
  /** The picture. */
  readonly png: Uint8Array
  /** What the script gave, as JSON. */
  readonly value?: unknown
  /** What went wrong in it: the last errors of its console. */
  readonly errors: readonly string[]
  /** Why the content could not be shown: a diagram or chart with a mistake in it. */
  readonly problem?: string
}

/** The handle of a tool that declares the capability; it reaches the canvases of the call's own run. */
export interface CanvasHandle {
  /** Shows something new; a name that the run has already gets another version, and is shown again. */
  present(wish: CanvasContent & { readonly name?: string }): Promise<Canvas>
  /** Adds a version. */
  update(canvas: string, wish: Omit<CanvasContent, 'kind'> & { readonly kind?: CanvasKind }): Promise<Canvas>
  /** Takes it out of people's sight; presenting it again shows it. */
  hide(canvas: string): Promise<Canvas>
  /** Newest first, hidden ones too. */
  list(): Promise<readonly Canvas[]>
  /** A picture of it. */
  snapshot(canvas: string, options?: DrawOptions): Promise<CanvasDrawing>
  /** The same after a script ran in it, with what the script gave. */
  evaluate(canvas: string, script: string, options?: DrawOptions): Promise<CanvasDrawing>
}

/** Which canvases. */
export interface CanvasFilter {
  /** Only those of this run. Default: all. */
  readonly run?: string
  /** Only those of this principal. Default: all. */
  readonly principal?: string
  /** Only those that are shown, or only the others. */
  readonly hidden?: boolean
  /** Made before this time. */
  readonly before?: number
  /** Most canvases of the answer. */
  readonly limit?: number
}

/** How a canvas is written as a page. */
export interface CanvasPageOptions {
  /** The latest unless said. */
  readonly version?: number
  /** Colours of the page. Default: `light`. */
  readonly theme?: 'light' | 'dark'
  /** Host and path of our scripts, `127.0.0.1:4040/v1/canvas-scripts`; unless said they are inside the page. */
  readonly scripts?: string
}

/** What the owner of a hub uses. */
export interface CanvasService {
  /** Newest first. */
  list(filter?: CanvasFilter): Promise<readonly Canvas[]>
  /** Undefined when there is none. */
  find(id: string): Promise<CanvasDetail | undefined>
  /** What the agent gave, without what nobody may see. NOT_FOUND when there is no such canvas or version. */
  content(id: string, version?: number): Promise<{ readonly version: CanvasVersion; readonly text: string }>
  /** A whole page that shows it in a frame without network. */
  document(id: string, options?: CanvasPageOptions): Promise<string>
  /** Takes it out of people's sight; it stays on record. */
  hide(id: string, options: { readonly by: string }): Promise<void>
}

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
type NewCanvasVersion = Omit<CanvasVersion, 'n'> & { readonly title: string; readonly tainted: boolean }
