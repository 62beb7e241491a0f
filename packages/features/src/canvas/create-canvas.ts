import { randomBytes } from 'node:crypto'
import { type Feature, type FeatureCall, type FeatureHost, ToolError } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { drawCanvas } from './draw-canvas.ts'
import type {
  Canvas,
  CanvasContent,
  CanvasDetail,
  CanvasDrawing,
  CanvasHandle,
  CanvasKind,
  CanvasOptions,
  CanvasService,
  CanvasVersion,
  DrawOptions,
} from './types.ts'
import { readScript, scriptOf, writePage } from './write-frame.ts'

/** Creates the feature. Canvases are rows in the store; their contents are artifacts of their runs. */
export function createCanvas(options: CanvasOptions, host: FeatureHost): Feature<CanvasHandle, CanvasService> {
  const limits = canvasLimits(options)
  return {
    handle: (call) => new RunCanvases(host, limits, call),
    service: canvasService(host),
    async close() {},
  }
}

/** The service for the owner, with the canvases of all runs. */
function canvasService(host: FeatureHost): CanvasService {
  const { canvases } = host.store
  const find = async (id: string): Promise<CanvasDetail> => {
    const canvas = await canvases.find(id)
    if (canvas) return canvas
    throw new ToolError('NOT_FOUND', `Canvas ${JSON.stringify(id.slice(0, 100))} not found.`, {
      hint: 'List them with tool-hub canvas.',
    })
  }
  const read = async (canvas: CanvasDetail, wanted: number | undefined) => {
    const version = readVersion(canvas, wanted)
    return { version, text: Buffer.from(await host.artifact(canvas.run, version.artifact)).toString('utf8') }
  }
  return {
    list: async (filter = {}) => canvases.list(filter),
    find: async (id) => canvases.find(id),
    content: async (id, version) => read(await find(id), version),
    async document(id, { version, theme, scripts } = {}) {
      const canvas = await find(id)
      const { text: content } = await read(canvas, version)
      const { kind, title } = canvas
      const script = await scriptFor(scriptOf(kind), scripts)
      return writePage({ kind, title, content, ...(theme && { theme }), ...(script && { script }) })
    },
    async hide(id, { by }) {
      const { hidden } = await find(id)
      if (hidden) return
      await canvases.hide(id, host.clock.now())
      await host.recordChange({ by, change: 'canvas-hidden', subject: id })
      host.emitChange('canvas', id)
    },
  }
}

async function scriptFor(name: string | undefined, place: string | undefined) {
  if (name === undefined) return undefined
  if (place !== undefined) return { place: `${place}/${name}` }
  const source = await readScript(name)
  return source === undefined ? undefined : { source }
}

const MEDIA_TYPES = {
  html: 'text/html',
  markdown: 'text/markdown',
  mermaid: 'text/vnd.mermaid',
  'vega-lite': 'application/json',
  form: 'application/schema+json',
} as const

/** The handle of one call, for the canvases of its run. */
class RunCanvases implements CanvasHandle {
  readonly #host: FeatureHost
  readonly #limits: CanvasLimits
  readonly #call: FeatureCall

  constructor(host: FeatureHost, limits: CanvasLimits, call: FeatureCall) {
    this.#host = host
    this.#limits = limits
    this.#call = call
  }

  async present(wish: CanvasContent & { readonly name?: string }): Promise<Canvas> {
    this.#call.permits('canvas', 'present')
    const { kind, content } = wish
    this.#permitScripts(kind)
    const name = this.#host.redact(wish.name ?? `canvas-${randomBytes(3).toString('hex')}`)
    checkContent(kind, content, this.#limits.maxBytes)
    const known = await this.#named(name)
    if (known) return this.#addVersion(known, wish)
    return this.#add(name, wish)
  }

  async update(canvas: string, wish: Parameters<CanvasHandle['update']>[1]): Promise<Canvas> {
    this.#call.permits('canvas', 'update')
    const known = await this.#find(canvas)
    this.#permitScripts(known.kind)
    checkContent(known.kind, wish.content, this.#limits.maxBytes)
    return this.#addVersion(known, { kind: known.kind, ...wish })
  }

  async hide(canvas: string): Promise<Canvas> {
    this.#call.permits('canvas', 'hide')
    const known = await this.#find(canvas)
    if (known.hidden) return known
    await this.#call.beforeEffect()
    await this.#hideNow(known.id)
    return { ...known, hidden: true }
  }

  async list(): Promise<readonly Canvas[]> {
    const { canvases } = this.#host.store
    const found = await canvases.list({ run: this.#call.run, limit: this.#limits.maxCanvases })
    // Their names and titles are of the same origin as their content.
    if (found.some(({ tainted }) => tainted)) this.#call.markUntrusted()
    return found
  }

  async snapshot(canvas: string, options: DrawOptions = {}): Promise<CanvasDrawing> {
    this.#call.permits('canvas', 'snapshot')
    return this.#draw(canvas, options)
  }

  async evaluate(canvas: string, script: string, options: DrawOptions = {}): Promise<CanvasDrawing> {
    this.#call.permits('canvas', 'eval')
    return this.#draw(canvas, { ...options, script })
  }

  /** Only HTML runs scripts of its author; other kinds are drawn by the hub's scripts. */
  #permitScripts(kind: CanvasContent['kind']): void {
    if (kind === 'html') this.#call.permits('canvas', 'script')
  }

  async #add(name: string, { kind, content, title }: CanvasContent): Promise<Canvas> {
    const call = this.#call
    const { store, redact, clock } = this.#host
    await this.#assertRoom()
    const version = await this.#keep(kind, content, name)
    const id = `canvas-${randomBytes(8).toString('hex')}`
    const made = {
      id,
      name,
      title: redact(title ?? name),
      kind,
      run: call.run,
      caller: call.caller,
      ...(call.principal !== undefined && { principal: call.principal }),
      tainted: call.isTainted,
      createdAt: clock.now(),
      version,
    }
    const outcome = await store.canvases.add(made, { maxOfRun: this.#limits.maxCanvases })
    if (outcome === 'full') throw this.#full()
    // Another call of this run has just added the same name: this is its next version.
    if (outcome === 'taken') return this.present({ name, kind, content, title })
    return this.#shown((await store.canvases.find(id))!)
  }

  async #addVersion(known: Canvas, { kind, content, title = known.title }: CanvasContent): Promise<Canvas> {
    if (kind !== known.kind)
      throw new ToolError('CONFLICT', `The canvas ${JSON.stringify(known.name)} is ${known.kind}, not ${kind}.`, {
        hint: 'Present it under another name.',
      })
    const { store, clock, redact } = this.#host
    const version = await this.#keep(kind, content, known.name)
    const added = { ...version, at: clock.now(), title: redact(title), tainted: this.#call.isTainted }
    const canvas = await store.canvases.addVersion(known.id, added, { keep: this.#limits.maxVersions })
    if (!canvas) throw this.#missing(known.name)
    return this.#shown(canvas)
  }

  /** Stores the content as an artifact of the run. */
  async #keep(kind: CanvasContent['kind'], content: string, name: string) {
    await this.#call.beforeEffect()
    const { ref: artifact, bytes } = await this.#call.artifact(content, { name, mediaType: MEDIA_TYPES[kind] })
    return { artifact, bytes, callId: this.#call.callId }
  }

  #shown(canvas: Canvas): Canvas {
    // A form is shown only while its call waits for the answer.
    if (canvas.kind === 'form') this.#call.onStop(() => void this.#hideNow(canvas.id).catch(() => {}))
    this.#host.emitChange('canvas', canvas.id)
    return canvas
  }

  async #hideNow(id: string): Promise<void> {
    await this.#host.store.canvases.hide(id, this.#host.clock.now())
    this.#host.emitChange('canvas', id)
  }

  async #draw(wanted: string, options: DrawOptions & { readonly script?: string }): Promise<CanvasDrawing> {
    const canvas = await this.#find(wanted)
    const version = readVersion(canvas, options.version)
    if (canvas.tainted) this.#call.markUntrusted()
    const content = Buffer.from(await this.#call.readArtifact(version.artifact)).toString('utf8')
    return drawCanvas(this.#host, { ...options, canvas, version: version.n, content, signal: this.#call.signal() })
  }

  async #find(wanted: string): Promise<CanvasDetail> {
    const { canvases } = this.#host.store
    const found = (await canvases.find(wanted)) ?? (await this.#named(this.#host.redact(wanted)))
    // Canvases of other runs cannot be reached.
    if (found?.run !== this.#call.run) throw this.#missing(wanted, await this.list())
    return (await canvases.find(found.id))!
  }

  #named(name: string): Canvas | undefined | Promise<Canvas | undefined> {
    return this.#host.store.canvases.findNamed(this.#call.run, name)
  }

  /** Checks the limit before the content is stored. */
  async #assertRoom(): Promise<void> {
    if ((await this.list()).length >= this.#limits.maxCanvases) throw this.#full()
  }

  #full(): ToolError {
    const { maxCanvases } = this.#limits
    return new ToolError('BUDGET_EXCEEDED', `This run already has ${maxCanvases} canvases, which is the limit.`, {
      fix: { key: 'canvas.perRun', hint: 'Update one of them; list shows their names.' },
    })
  }

  #missing(wanted: string, others: readonly Canvas[] = []): ToolError {
    const known = others.slice(0, 20).map(({ name }) => name)
    return new ToolError('NOT_FOUND', `This run has no canvas ${JSON.stringify(wanted.slice(0, 100))}.`, {
      hint: known.length === 0 ? 'Present one first.' : `Known canvases: ${known.join(', ')}.`,
    })
  }
}

/** Throws if the content is too large, or is not valid for its kind. */
export function checkContent(kind: CanvasKind, content: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(content)
  if (bytes > maxBytes)
    throw new ToolError('FILE_TOO_LARGE', `The content has ${bytes} bytes; the limit of a canvas is ${maxBytes}.`, {
      fix: { key: 'canvas.content', hint: 'Show less, split it over several canvases, or raise canvas.content.' },
    })
  if (kind !== 'vega-lite' && kind !== 'form') return
  if (isPlainObject(readJson(kind, content))) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `The content of a ${kind} canvas must be a JSON object.`, {
    hint: kind === 'form' ? 'Give a JSON Schema with type object and properties.' : 'Give a Vega-Lite specification.',
  })
}

function readJson(kind: CanvasKind, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `The content of a ${kind} canvas is not valid JSON: ${(error as Error).message}`,
    )
  }
}

/** The limits of a run. */
type CanvasLimits = Required<CanvasOptions>

const DEFAULTS: CanvasLimits = { maxBytes: 2_000_000, maxCanvases: 50, maxVersions: 200 }

/** The limits with defaults filled in; throws `CONFIG_INVALID` for an invalid one. */
function canvasLimits(options: CanvasOptions): CanvasLimits {
  const limits = { ...DEFAULTS, ...options }
  for (const [name, value] of Object.entries(limits))
    if (!Number.isInteger(value) || value < 1)
      throw new ToolError('CONFIG_INVALID', `canvas.${name} is ${value}; it must be a whole number above 0.`)
  return limits
}

/** Finds a version of a canvas. Default: the latest. Throws `NOT_FOUND` if it is not listed. */
export function readVersion({ name, latest, versions }: CanvasDetail, wanted: number | undefined): CanvasVersion {
  if (wanted === undefined) return latest
  const found = versions.find(({ n }) => n === wanted)
  if (found) return found
  const first = versions[0]?.n ?? latest.n
  throw new ToolError('NOT_FOUND', `The canvas ${JSON.stringify(name)} has no version ${wanted}.`, {
    hint:
      wanted >= 1 && wanted < first
        ? `Versions before ${first} are no longer listed; they stay artifacts of their calls.`
        : `It has versions ${first} to ${latest.n}.`,
  })
}
