import { basename, resolve } from 'node:path'
import type { AnyTool } from '../../define.ts'
import { errnoOf } from '../../disk/errno.ts'
import { listOurFiles } from '../../disk/list-our-files.ts'
import { resourceError } from '../../disk/resource-error.ts'
import { watchFolder } from '../../disk/watch-folder.ts'
import { messageOf, ToolError } from '../../errors.ts'
import type { SourceHost, ToolSource } from '../../source.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { loadToolFile } from './load-tool-file.ts'

/** How a folder of tools is kept. */
export interface FolderOptions {
  /** Loads what is added or changed and drops what is removed, while the hub lives; false unless said. */
  readonly watch?: boolean
}

/** One file as it was when it was last looked at. */
interface LoadedFile {
  readonly version: string
  readonly tools: readonly AnyTool[]
  readonly problem?: string
}

const MODULE = /^[^.].*\.m?js$/
const MOST_FILES = 500
/** Editors write a file in several steps; the last one counts. */
const SETTLE_MS = 100
/** Where the system does not tell of changes, they are found so late. */
const LOOK_EVERY_MS = 2_000
const MOST_MESSAGE_CHARS = 500

/**
 * The tools in the modules of a folder: every `*.mjs` and `*.js` in it exports by default a tool, a list of tools, an S3
 * AgentTool, a plugin that has only tools, or a function that gives one of these. One that does not load is named, and
 * the others go on. Modules run in the hub's own process, with all that it may do; `isolatePlugin` is for those that
 * should not. When a file changes under `watch` and no longer loads, its tools are gone until it does, because what runs
 * must be what stands there; a call of one says what is wrong with the file. What a module imports itself stays as it was
 * first loaded.
 * @example
 * const hub = createToolHub({ sources: [fromFolder('./tools', { watch: true })] })
 */
export function fromFolder(path: string, { watch = false }: FolderOptions = {}): ToolSource {
  const folder = resolve(path)
  let tools: FolderTools | undefined
  return {
    name: `folder ${path}`,
    async start(host) {
      tools = new FolderTools(folder, host)
      await tools.load()
      if (watch) tools.watch()
    },
    close: () => tools?.close(),
  }
}

class FolderTools {
  readonly #folder: string
  readonly #host: SourceHost
  #files: ReadonlyMap<string, LoadedFile> = new Map()
  /** What is wrong with the folder itself. */
  #problem: string | undefined
  /** The file that each name was last offered from, so that a call can be told where its tool went. */
  readonly #homes = new Map<string, string>()
  #told: ReadonlySet<string> = new Set()
  #loading: Promise<void> = Promise.resolve()
  #stopWatching: () => void = () => {}
  #cancelSettling: () => void = () => {}
  #cancelLook: () => void = () => {}
  #isClosed = false

  constructor(folder: string, host: SourceHost) {
    this.#folder = folder
    this.#host = host
  }

  /** Loads what has changed since the last time; one after the other, whoever asks. */
  load(): Promise<void> {
    const loaded = this.#loading.then(() => this.#load())
    this.#loading = loaded.catch(() => {})
    return loaded
  }

  watch(): void {
    this.#stopWatching = watchFolder(this.#folder, () => {
      this.#cancelSettling()
      this.#cancelSettling = this.#host.clock.after(SETTLE_MS, () => void this.#loadAgain(), { background: true })
    })
    this.#lookAgain()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopWatching()
    this.#cancelSettling()
    this.#cancelLook()
    await this.#loading
  }

  async #loadAgain(): Promise<void> {
    try {
      await this.load()
    } catch {
      // Resources ran out, which says nothing about the files: their tools stay, and the next look tries again.
    }
  }

  #lookAgain(): void {
    if (this.#isClosed) return
    const look = () => void this.#loadAgain().then(() => this.#lookAgain())
    this.#cancelLook = this.#host.clock.after(LOOK_EVERY_MS, look, { background: true })
  }

  async #load(): Promise<void> {
    if (this.#isClosed) return
    const { present, problem } = await this.#list()
    const isSame = problem === this.#problem && present.size === this.#files.size
    const loaded = await Promise.all(
      [...present].map(async ([name, { version, load }]) => {
        const known = this.#files.get(name)
        return [name, known?.version === version ? known : { version, ...(await load()) }] as const
      }),
    )
    if (this.#isClosed) return
    if (isSame && loaded.every(([name, file]) => this.#files.get(name) === file)) return
    this.#files = new Map(loaded)
    this.#problem = problem
    this.#offer()
  }

  /** What is there now, in the order of the names, each with how to load it. */
  async #list() {
    const present = new Map<string, { version: string; load: () => Promise<Omit<LoadedFile, 'version'>> }>()
    try {
      const { files, refused } = await listOurFiles(this.#folder, (name) => MODULE.test(name))
      for (const file of files.slice(0, MOST_FILES))
        present.set(file.name, { version: file.version, load: () => this.#import(file) })
      for (const { name, why } of refused.slice(0, MOST_FILES))
        present.set(name, { version: why, load: async () => ({ tools: [], problem: `it ${why}.` }) })
      if (files.length <= MOST_FILES) return { present }
      return { present, problem: `it has ${files.length} modules; the first ${MOST_FILES} are loaded.` }
    } catch (error) {
      throwIfExhausted(error)
      return { present, problem: errnoOf(error) === 'ENOENT' ? 'there is none.' : messageOf(error) }
    }
  }

  async #import(file: { readonly path: string; readonly version: string }): Promise<Omit<LoadedFile, 'version'>> {
    try {
      return { tools: await loadToolFile(file, this.#host.clock) }
    } catch (error) {
      throwIfExhausted(error)
      return { tools: [], problem: messageOf(error) }
    }
  }

  /** The whole set, the first file of a name winning; what is left out is told once. */
  #offer(): void {
    const problems = this.#problem === undefined ? [] : [`The folder of tools ${this.#folder}: ${this.#problem}`]
    const tools = new Map<string, AnyTool>()
    const homes = new Map<string, string>()
    for (const [name, { tools: own, problem }] of this.#files) {
      const file = this.#label(name)
      if (problem !== undefined) problems.push(`${file} gives no tools: ${problem}`)
      for (const tool of own) {
        const taken = homes.get(tool.name)
        if (taken !== undefined) problems.push(`${file}: the tool ${tool.name} is in ${taken} already.`)
        else homes.set(tool.name, file)
        if (taken === undefined) tools.set(tool.name, tool)
      }
    }
    for (const { name, why } of this.#host.offer([...tools.values()]))
      problems.push(`${homes.get(name) ?? name}: ${why}`)
    for (const [name, file] of homes) this.#remember(name, file)
    this.#tell(problems)
  }

  /** As messages call it: a person knows the file by its folder. */
  #label(file: string): string {
    return `${basename(this.#folder)}/${file}`
  }

  #remember(name: string, file: string): void {
    const isNew = !this.#homes.has(name)
    this.#homes.set(name, file)
    if (isNew) this.#host.expect(name, Promise.resolve(), () => this.#problemOf(name))
  }

  #problemOf(name: string): ToolError | undefined {
    const file = this.#homes.get(name)!
    const problem = this.#files.get(basename(file))?.problem
    if (problem === undefined) return undefined
    return new ToolError('CONFIG_INVALID', shown(`The tool ${name} is gone: ${file} gives no tools now: ${problem}`), {
      hint: `Correct ${file}.`,
    })
  }

  #tell(problems: readonly string[]): void {
    const texts = new Set(problems.map(shown))
    for (const text of texts) if (!this.#told.has(text)) this.#host.warn(text)
    this.#told = texts
  }
}

/** A module may throw any text. */
function shown(text: string): string {
  const line = escapeLine(text)
  return line.length > MOST_MESSAGE_CHARS ? `${line.slice(0, MOST_MESSAGE_CHARS)}…` : line
}

/** What failed only because resources ran out says nothing about the file. */
function throwIfExhausted(error: unknown): void {
  const exhausted = resourceError(error, 'The folder of tools cannot be read')
  if (exhausted) throw exhausted
}
