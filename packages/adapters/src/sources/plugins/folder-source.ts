import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type AgentTool,
  type AnyTool,
  type Clock,
  checkPluginKeys,
  fromAgentTool,
  fromHandlerTool,
  isHandlerTool,
  isOutOfResources,
  loadWithRoom,
  messageOf,
  resourceError,
  type SourceHost,
  ToolError,
} from '@tool-hub/core'
import { errnoOf, escapeLine } from '@tool-hub/core/lib'
import { listOurFiles, syntaxLine, watchFolder } from '@tool-hub/sandbox/system'

/** Only allowed in listed plugins: these act on calls of others, or need setup and close. */
const LISTED_ONLY = ['hooks', 'setup', 'close', 'required'] as const

const LOAD_MS = 10_000

/** A file as it was last loaded. */
interface LoadedFile {
  readonly version: string
  readonly tools: readonly AnyTool[]
  readonly problem?: string
}

const MODULE = /^[^.].*\.m?js$/
const MAX_FILES = 500
/** Editors write a file in several steps; the last one counts. */
const SETTLE_MS = 100
/** Polling interval for systems that do not report changes. */
const LOOK_EVERY_MS = 2_000
const MAX_MESSAGE_CHARS = 500

/** The tools in the modules of a folder. */
export class FolderTools {
  readonly #folder: string
  readonly #host: SourceHost
  #files: ReadonlyMap<string, LoadedFile> = new Map()
  /** What is wrong with the folder itself. */
  #problem: string | undefined
  /** The file that last offered each name, so that a call can report where its tool went. */
  readonly #homes = new Map<string, string>()
  #warned: ReadonlySet<string> = new Set()
  #loading: Promise<void> = Promise.resolve()
  #stopWatching: () => void = () => {}
  #cancelSettling: () => void = () => {}
  #cancelLook: () => void = () => {}
  #isClosed = false

  constructor(folder: string, host: SourceHost) {
    this.#folder = folder
    this.#host = host
  }

  /** Loads what has changed since the last time; concurrent requests run one after the other. */
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
      // Out of resources, which says nothing about the files: their tools stay, and the next check tries again.
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

  /** The present files, sorted by name, each with its loader. */
  async #list() {
    const present = new Map<string, { version: string; load: () => Promise<Omit<LoadedFile, 'version'>> }>()
    try {
      const { files, refused } = await listOurFiles(this.#folder, (name) => MODULE.test(name))
      for (const file of files.slice(0, MAX_FILES))
        present.set(file.name, { version: file.version, load: () => this.#import(file) })
      for (const { name, why } of refused.slice(0, MAX_FILES))
        present.set(name, { version: why, load: async () => ({ tools: [], problem: `it ${why}.` }) })
      if (files.length <= MAX_FILES) return { present }
      return { present, problem: `it has ${files.length} modules; the first ${MAX_FILES} are loaded.` }
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

  /** Offers all tools; the first file with a name wins. What is left out is reported once. */
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
    this.#report(problems)
  }

  /** The file with its folder, as people know it, for messages. */
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

  #report(problems: readonly string[]): void {
    const texts = new Set(problems.map(shown))
    for (const text of texts) if (!this.#warned.has(text)) this.#host.warn(text)
    this.#warned = texts
  }
}

/** A module may throw any text. */
function shown(text: string): string {
  const line = escapeLine(text)
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS)}…` : line
}

/** A failure caused by exhausted resources says nothing about the file. */
function throwIfExhausted(error: unknown): void {
  const exhausted = resourceError(error, 'The folder of tools cannot be read')
  if (exhausted) throw exhausted
}

/** Imports the tools of one module; another version of the same file is another module. */
function loadToolFile(
  { path, version }: { readonly path: string; readonly version: string },
  clock: Clock,
): Promise<readonly AnyTool[]> {
  const url = pathToFileURL(path)
  url.searchParams.set('version', version)
  const load = async () => {
    const module = await importModule(path, url)
    return toolsOfExport(module.default)
  }
  return withinTime(load(), LOAD_MS, clock, () => new Error(`it did not load within ${LOAD_MS} ms.`))
}

async function importModule(path: string, url: URL): Promise<{ readonly default?: unknown }> {
  try {
    return await loadWithRoom(() => import(url.href))
  } catch (cause) {
    if (isOutOfResources(cause)) throw cause
    const line = await syntaxLine(path, cause)
    throw line === undefined ? cause : new Error(`line ${line}: ${messageOf(cause)}`, { cause })
  }
}

/**
 * Reads the default export of a module: a tool, an AgentTool, a tool with a `handler`, a list of them, a plugin with only
 * tools, or a function that returns one of these.
 */
async function toolsOfExport(exported: unknown): Promise<readonly AnyTool[]> {
  if (exported === undefined) throw new Error('it has no default export.')
  const given: unknown = typeof exported === 'function' ? await exported({}) : exported
  if (Array.isArray(given)) return given.map(toTool)
  return isPlugin(given) ? toolsOfPlugin(given) : [toTool(given, 0)]
}

function toolsOfPlugin(plugin: Readonly<Record<string, unknown>>): readonly AnyTool[] {
  checkPluginKeys(plugin)
  const listed = LISTED_ONLY.find((key) => plugin[key] !== undefined)
  if (listed !== undefined)
    throw new Error(`it is a plugin with ${listed}, not tools alone: list it under plugins: in tool-hub.yaml.`)
  const { tools = [] } = plugin
  if (!Array.isArray(tools)) throw new Error('its tools are no list.')
  return tools.map(toTool)
}

function toTool(value: unknown, index: number): AnyTool {
  if (isHandlerTool(value)) return fromHandlerTool(value)
  const which = index > 0 ? ` (entry ${index + 1} of its list)` : ''
  if (!isObject(value) || typeof value.execute !== 'function' || typeof value.name !== 'string')
    throw new Error(`it exports neither a tool nor a list of tools: no name, or no execute function${which}.`)
  if (isTool(value)) return value
  if (isAgentTool(value)) return fromAgentTool(value)
  throw new Error(`the tool ${value.name.slice(0, 64)} has neither input nor parameters, the schema of its arguments.`)
}

/** The schema itself is checked when the tool is registered. */
function isTool(value: object): value is AnyTool {
  return 'input' in value
}

function isAgentTool(value: object): value is AgentTool {
  return 'parameters' in value
}

function isPlugin(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value) || 'execute' in value) return false
  return ['tools', ...LISTED_ONLY].some((key) => key in value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Resolves or rejects with `work` if it settles in time; otherwise rejects with `late()`. */
export function withinTime<T>(work: Promise<T>, ms: number, clock: Clock, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(late()))
    work.then(resolve, reject).finally(cancel)
  })
}
