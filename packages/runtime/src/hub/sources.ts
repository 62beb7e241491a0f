import { join } from 'node:path'
import {
  type AnyTool,
  type Clock,
  messageOf,
  type Secret,
  type SkillRequest,
  type SourceHost,
  type SourceStore,
  type Store,
  ToolError,
  type ToolSource,
  toWireName,
} from '@tool-hub/core'
import { escapeText, once } from '@tool-hub/core/lib'
import { loadPrograms, type ProgramSettings } from '@tool-hub/sandbox/exec'
import { loadWebFetch, type WebFetchGuard } from '@tool-hub/sandbox/network'
import { statsIfThere } from '@tool-hub/sandbox/system'
import type { Redactor } from '../records/redaction/index.ts'
import { type FeatureTables, openFileStore } from '../store/index.ts'
import type { RefusedTool, Registry } from './pipeline/registry.ts'
import type { Runs } from './runs.ts'

/** The services of a hub that sources use. */
export interface SourcesOptions {
  readonly registry: Registry
  readonly redactor: Redactor
  readonly secrets: ReadonlyMap<string, Secret>
  readonly data: string
  readonly store: OpenSourceStore
  readonly clock: Clock
  readonly runs: Pick<Runs, 'open'>
  readonly network: () => WebFetchGuard
  readonly machine: () => ProgramSettings
}

interface Expected {
  readonly prefix: string
  readonly arriving: () => Promise<unknown>
  /** Whether the first attempt has neither succeeded nor failed yet. */
  isLoading: boolean
  readonly problem: (() => ToolError | undefined) | undefined
}

/** The sources that are connected to a hub, each with its tools. A source that fails does not affect the others. */
export class Sources {
  readonly #options: SourcesOptions
  readonly #connected = new Map<ToolSource, Promise<void>>()
  readonly #starting = new Set<Promise<void>>()
  readonly #failed = new Map<ToolSource, ToolError>()
  readonly #expected = new Map<ToolSource, Map<string, Expected>>()
  readonly #complete = new WeakSet<ToolSource>()
  readonly #reported = new WeakSet<ToolError>()
  readonly #requests = new Map<string | undefined, readonly SkillRequest[]>()
  /** The requests of the skills that each run has loaded; by `undefined`, those of all skills. */
  readonly requests: ReadonlyMap<string | undefined, readonly SkillRequest[]> = this.#requests
  /** Every call waits for it: rejected if a required source failed, `undefined` if all have started. Only this class sets it. */
  pending: Promise<void> | undefined
  readonly #offersTo = new Map<ToolSource, Pick<Registry, 'offer'>>()
  readonly #closers = new Map<ToolSource, Set<() => unknown>>()

  constructor(options: SourcesOptions) {
    this.#options = options
  }

  /**
   * Starts a source, whose tools are registered in `to`. Default: the registry of the hub. With `isComplete`, all of its
   * tools are known as soon as it has started. Returns a function that disconnects the source and removes its tools.
   */
  connect(
    source: ToolSource,
    to: Pick<Registry, 'offer'> = this.#options.registry,
    { isComplete = false }: { readonly isComplete?: boolean } = {},
  ): () => Promise<void> {
    if (this.#connected.has(source)) throw twice(source)
    if (isComplete) this.#complete.add(source)
    this.#closers.set(source, new Set())
    this.#offersTo.set(source, to)
    // Registered before it starts, because it may offer tools immediately.
    this.#connected.set(source, Promise.resolve())
    const started = this.#start(source).finally(() => {
      this.#starting.delete(started)
      this.#block()
    })
    this.#starting.add(started)
    this.#connected.set(source, started)
    this.#block()
    return () => this.#disconnect(source)
  }

  /** Returns the source host for a component of the hub that offers no tools. It works until the sources are closed. */
  lendHost(name: string): SourceHost {
    const borrower: ToolSource = { name, start() {} }
    this.#closers.set(borrower, new Set())
    this.#connected.set(borrower, Promise.resolve())
    return this.#hostOf(borrower)
  }

  /**
   * Settles when every source has started; with `all`, also when everything that they still expect is available or has
   * failed.
   */
  async ready({ all = false }: { readonly all?: boolean } = {}): Promise<void> {
    await Promise.all(this.#connected.values())
    if (all) await Promise.allSettled([...this.#expected.values()].flatMap(arrivals))
  }

  /** The sources that could not be started. */
  get failed(): readonly { readonly name: string; readonly error: ToolError }[] {
    return [...this.#failed].map(([{ name }, error]) => ({ name, error }))
  }

  /** Why tools that were expected are missing now, such as those of an MCP server that could not be started. */
  get problems(): readonly { readonly tools: string; readonly error: ToolError }[] {
    const found = new Map<ToolError, { tools: string; error: ToolError }>()
    for (const [source, expected] of this.#expected) {
      if (source.offersTools === false) continue
      for (const { prefix, problem } of expected.values()) {
        const error = problem?.()
        if (error && !found.has(error)) found.set(error, { tools: `${prefix}*`, error })
      }
    }
    return [...found.values()]
  }

  /** The names of the sources that still load their tools for the first time. */
  get loading(): readonly string[] {
    const isLoading = ([source, started]: readonly [ToolSource, Promise<void>]) =>
      source.offersTools !== false &&
      !this.#complete.has(source) &&
      (this.#starting.has(started) || [...(this.#expected.get(source)?.values() ?? [])].some((each) => each.isLoading))
    return [...this.#connected].filter(isLoading).map(([{ name }]) => name)
  }

  /** Returns the name prefixes of all sources that may still offer tools, including those that have not started yet. */
  prefixes(): readonly string[] {
    return [...this.#expected].flatMap(([source, expected]) => (this.#complete.has(source) ? [] : [...expected.keys()]))
  }

  /** Returns a promise of the source that may provide this tool, or `undefined` if there is none. */
  arriving(name: string): Promise<unknown> | undefined {
    if (this.#starting.size > 0) return Promise.all(this.#starting).then(() => this.#arrivalOf(name))
    return this.#arrivalOf(name)
  }

  /** Returns why a tool that a source should have provided is missing. */
  problem(name: string): ToolError | undefined {
    return this.#find(name)?.problem?.()
  }

  /** Discards the loaded skills of a run that has ended. */
  endRun(run: string): void {
    this.#requests.delete(run)
  }

  async close(): Promise<void> {
    const closing = await Promise.allSettled([...this.#connected.keys()].map((source) => this.#disconnect(source)))
    await this.#options.store.close()
    for (const outcome of closing) if (outcome.status === 'rejected') throw outcome.reason
  }

  /** Sets what calls wait for, after a source was connected, started, failed or disconnected. */
  #block(): void {
    const required = [...this.#connected].filter(([source]) => source.required)
    const failed = required.find(([source]) => this.#failed.has(source))
    const starting = required.map(([, started]) => started).filter((started) => this.#starting.has(started))
    if (failed) this.pending = Promise.reject(this.#failed.get(failed[0]))
    else this.pending = starting.length === 0 ? undefined : Promise.all(starting).then(() => this.pending)
    // The error is not lost: every call waits for this promise and fails with it.
    this.pending?.catch(() => {})
  }

  async #start(source: ToolSource): Promise<void> {
    try {
      await source.start(this.#hostOf(source))
    } catch (error) {
      const failure = notStarted(source, error)
      this.#failed.set(source, failure)
      warn(failure.message)
      this.#offer(source, [])
    }
  }

  async #disconnect(source: ToolSource): Promise<void> {
    if (!this.#connected.delete(source)) return
    this.#expected.delete(source)
    this.#failed.delete(source)
    this.#block()
    this.#offer(source, [])
    this.#offersTo.delete(source)
    try {
      await source.close?.()
    } finally {
      for (const close of this.#closers.get(source) ?? []) await close()
      this.#closers.delete(source)
    }
  }

  /** Warns if the first attempt has failed; later ones fail with the calls that need them. */
  #reportProblem(source: ToolSource, { prefix, problem }: Expected): void {
    const error = this.#connected.has(source) && source.offersTools !== false ? problem?.() : undefined
    if (error === undefined || this.#reported.has(error)) return
    this.#reported.add(error)
    warn(`The tools ${prefix}* are missing: ${error.message}`)
  }

  #offer(source: ToolSource, tools: readonly AnyTool[]): RefusedTool[] {
    return this.#offersTo.get(source)?.offer(source, tools) ?? []
  }

  #arrivalOf(name: string): Promise<unknown> | undefined {
    const expected = this.#find(name)
    return expected && Promise.allSettled([expected.arriving()])
  }

  /** Returns the expectation with the most specific match of the name. */
  #find(name: string): Expected | undefined {
    let best: Expected | undefined
    for (const expected of this.#expected.values()) {
      for (const entry of expected.values())
        if (name.startsWith(entry.prefix) && entry.prefix.length > (best?.prefix.length ?? -1)) best = entry
    }
    return best
  }

  #hostOf(source: ToolSource): SourceHost {
    const { redactor, secrets, data, store, clock, runs } = this.#options
    const isConnected = () => this.#connected.has(source)
    return {
      data,
      store,
      clock,
      warn,
      offer: (tools) => (isConnected() ? this.#offer(source, tools) : []),
      expect: (prefix, given, problem) => {
        const arriving = typeof given === 'function' ? given : () => given
        const entry: Expected = { prefix, arriving, isLoading: true, problem }
        const end = () => {
          entry.isLoading = false
          this.#reportProblem(source, entry)
        }
        // The callers that wait for it handle the failure.
        arriving().then(end, end)
        const expected = this.#expected.get(source) ?? new Map()
        this.#expected.set(source, expected.set(prefix, entry))
      },
      request: (id, request) => {
        const others = (this.#requests.get(id) ?? []).filter(({ skill }) => skill !== request.skill)
        this.#requests.set(id, [...others, request])
      },
      refuseAnswer: async (id, refusal) => {
        const { records } = await runs.open(id)
        records?.append(redactor.value({ type: 'answer-refused', ...refusal }))
      },
      startProgram: async (request) => {
        const { startProgram } = await loadPrograms()
        if (!isConnected()) throw new ToolError('ABORTED', `The source ${source.name} was closed.`)
        const program = await startProgram(request, this.#options.machine())
        if (isConnected()) return program
        await program.stop({ graceMs: 0 })
        throw new ToolError('ABORTED', `The source ${source.name} was closed.`)
      },
      webFetch: (options) => {
        const open = once(async () => {
          const { createWebFetch } = await loadWebFetch()
          const fetch = createWebFetch(options, this.#options.network())
          this.#closers.get(source)?.add(() => fetch.close())
          return fetch
        })
        return async (url, init) => (await open())(url, init)
      },
      secret: (name) => secrets.get(name)?.value,
      hide: (values) => redactor.hide(values),
      redact: (text) => redactor.text(text),
    }
  }
}

function arrivals(expected: ReadonlyMap<string, Expected>): Promise<unknown>[] {
  return [...expected.values()].map(({ arriving }) => arriving())
}

/** Escapes the message, because names and reasons come from outside and must not contain terminal sequences. */
function warn(message: string): void {
  process.emitWarning(escapeText(message), 'ToolHubWarning')
}

function notStarted({ name, required }: ToolSource, cause: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', `The source ${name} could not be started: ${messageOf(cause)}`, {
    hint: required
      ? 'Fix or remove the source; until then every call fails, because the source is required.'
      : 'Fix or remove the source; until then its tools are missing.',
    cause,
  })
}

function twice(source: ToolSource): ToolError {
  return new ToolError('CONFIG_INVALID', `The source ${source.name} is already connected.`)
}

/** Returns a source whose code is loaded when it starts, so that hubs without such a source do not load it. */
export function lazySource(name: string, load: () => Promise<ToolSource>): ToolSource {
  let source: ToolSource | undefined
  let isClosed = false
  return {
    name,
    async start(host) {
      const loaded = await load()
      if (isClosed) return
      source = loaded
      await source.start(host)
    },
    async close() {
      isClosed = true
      await source?.close?.()
    },
  }
}

/**
 * Returns a source that replaces built-in tools that the owner has turned off. It offers no tools, and calls fail with
 * `why`.
 */
export function turnedOffSource(name: string, tools: readonly AnyTool[], why: () => ToolError): ToolSource {
  return {
    name,
    offersTools: false,
    start(host) {
      for (const tool of tools) {
        const dialects = Object.values(tool.dialects ?? {}).flatMap((dialect) => [
          dialect.name,
          ...(dialect.aliases ?? []),
        ])
        for (const each of [tool.name, toWireName(tool.name), ...dialects]) host.expect(each, Promise.resolve(), why)
      }
    },
  }
}

/** The store of sources, as the hub has it. */
export interface OpenSourceStore extends SourceStore {
  close(): Promise<void>
}

/**
 * What sources keep must outlive the process: it is in the store of the hub, or in the file of the data folder if that store
 * ends with the process. Nothing is opened or created before the first use.
 */
export function openSourceStore(
  { location, documents, slots }: Store,
  { data, features }: { readonly data: string } & FeatureTables,
): OpenSourceStore {
  if (typeof location === 'object') return { documents, slots, keyFolder: location.folder, close: async () => {} }
  const file = openFileStore(data, { features })
  const close = () => file.close()
  const isThere = () => statsIfThere(join(data, 'store.db')) !== undefined
  // A file that is not there is not created to read nothing from it.
  const read: typeof documents.read = (name, known) => (isThere() ? file.documents.read(name, known) : undefined)
  if (location === 'network') return { documents, slots, earlier: { read }, close }
  return { documents: { ...file.documents, read }, slots: file.slots, keyFolder: data, close }
}
