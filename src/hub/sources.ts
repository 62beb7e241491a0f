import {
  type AnyTool,
  type Clock,
  messageOf,
  type Secret,
  type SkillRequest,
  type SourceHost,
  ToolError,
  type ToolSource,
  toWireName,
} from '../core/index.ts'
import { escapeText, once } from '../lib/index.ts'
import type { Redactor } from '../records/redaction/index.ts'
import { loadPrograms, type ProgramSettings } from '../sandbox/exec/index.ts'
import { loadWebFetch, type WebFetchGuard } from '../sandbox/network/index.ts'
import type { RefusedTool, Registry } from './pipeline/registry.ts'
import type { RunState } from './runtime.ts'

/** What sources may use of a hub. */
export interface SourcesOptions {
  readonly registry: Registry
  readonly redactor: Redactor
  readonly secrets: ReadonlyMap<string, Secret>
  readonly data: string
  readonly clock: Clock
  readonly run: (id: string) => RunState | Promise<RunState>
  readonly network: () => WebFetchGuard
  readonly machine: () => ProgramSettings
}

interface Expected {
  readonly prefix: string
  readonly arriving: () => Promise<unknown>
  readonly problem: (() => ToolError | undefined) | undefined
}

/** The sources that are connected to a hub, each with what it brought. One that fails takes nothing else down. */
export class Sources {
  readonly #options: SourcesOptions
  readonly #connected = new Map<ToolSource, Promise<void>>()
  readonly #starting = new Set<Promise<void>>()
  readonly #failed = new Map<ToolSource, ToolError>()
  readonly #expected = new Map<ToolSource, Map<string, Expected>>()
  readonly #requests = new Map<string | undefined, readonly SkillRequest[]>()
  readonly #offersTo = new Map<ToolSource, Pick<Registry, 'offer'>>()
  readonly #closers = new Map<ToolSource, Set<() => unknown>>()

  constructor(options: SourcesOptions) {
    this.#options = options
  }

  /** Starts a source, whose tools go to everybody unless `to` says to whom. Gives back how to disconnect it, which takes its tools away. */
  connect(source: ToolSource, to: Pick<Registry, 'offer'> = this.#options.registry): () => Promise<void> {
    if (this.#connected.has(source)) throw twice(source)
    this.#closers.set(source, new Set())
    this.#offersTo.set(source, to)
    // Connected before it starts: it may offer tools at once.
    this.#connected.set(source, Promise.resolve())
    const started = this.#start(source).finally(() => this.#starting.delete(started))
    this.#starting.add(started)
    this.#connected.set(source, started)
    return () => this.#disconnect(source)
  }

  /** What the hub does for sources, for a part of its own that offers no tools; until the sources are closed. */
  lendHost(name: string): SourceHost {
    const borrower: ToolSource = { name, start() {} }
    this.#closers.set(borrower, new Set())
    this.#connected.set(borrower, Promise.resolve())
    return this.#hostOf(borrower)
  }

  /** Settles when every source has started, and with `all` also when what they expect has arrived or failed. */
  async ready({ all = false }: { readonly all?: boolean } = {}): Promise<void> {
    await Promise.all(this.#connected.values())
    if (all) await Promise.allSettled([...this.#expected.values()].flatMap(arrivals))
  }

  /** What keeps every call from passing: a source that is required and still starts, or has failed. */
  blocking(): Promise<void> | undefined {
    const required = [...this.#connected].filter(([source]) => source.required)
    if (required.length === 0) return undefined
    const failed = required.find(([source]) => this.#failed.has(source))
    if (failed) return Promise.reject(this.#failed.get(failed[0]))
    const starting = required.map(([, started]) => started).filter((started) => this.#starting.has(started))
    return starting.length === 0 ? undefined : Promise.all(starting).then(() => this.blocking())
  }

  /** Those that could not be started, for whoever wonders where their tools are. */
  get failed(): readonly { readonly name: string; readonly error: ToolError }[] {
    return [...this.#failed].map(([{ name }, error]) => ({ name, error }))
  }

  /** How the names begin that sources bring, whether or not they have arrived. */
  prefixes(): readonly string[] {
    return [...this.#expected.values()].flatMap((expected) => [...expected.keys()])
  }

  /** Something that may bring a tool of this name, or nothing. */
  arriving(name: string): Promise<unknown> | undefined {
    if (this.#starting.size > 0) return Promise.all(this.#starting).then(() => this.#arrivalOf(name))
    return this.#arrivalOf(name)
  }

  /** Why a tool that a source should have brought is not there. */
  problem(name: string): ToolError | undefined {
    return this.#find(name)?.problem?.()
  }

  /** What skills that a run has loaded ask for; with `undefined`, what all would ask for once they are. */
  requests(run: string | undefined): readonly SkillRequest[] {
    return this.#requests.get(run) ?? NONE
  }

  /** Nobody asks for a run that is over. */
  endRun(run: string): void {
    this.#requests.delete(run)
  }

  async close(): Promise<void> {
    const closing = await Promise.allSettled([...this.#connected.keys()].map((source) => this.#disconnect(source)))
    for (const outcome of closing) if (outcome.status === 'rejected') throw outcome.reason
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
    this.#offer(source, [])
    this.#offersTo.delete(source)
    try {
      await source.close?.()
    } finally {
      for (const close of this.#closers.get(source) ?? []) await close()
      this.#closers.delete(source)
    }
  }

  #offer(source: ToolSource, tools: readonly AnyTool[]): RefusedTool[] {
    return this.#offersTo.get(source)?.offer(source, tools) ?? []
  }

  #arrivalOf(name: string): Promise<unknown> | undefined {
    const expected = this.#find(name)
    return expected && Promise.allSettled([expected.arriving()])
  }

  /** The one that says most about the name. */
  #find(name: string): Expected | undefined {
    let best: Expected | undefined
    for (const expected of this.#expected.values()) {
      for (const entry of expected.values())
        if (name.startsWith(entry.prefix) && entry.prefix.length > (best?.prefix.length ?? -1)) best = entry
    }
    return best
  }

  #hostOf(source: ToolSource): SourceHost {
    const { redactor, secrets, data, clock, run } = this.#options
    const isConnected = () => this.#connected.has(source)
    return {
      data,
      clock,
      warn,
      offer: (tools) => (isConnected() ? this.#offer(source, tools) : []),
      expect: (prefix, given, problem) => {
        const arriving = typeof given === 'function' ? given : () => given
        // Whoever waits for it is told; nobody else has to.
        arriving().catch(() => {})
        const expected = this.#expected.get(source) ?? new Map()
        this.#expected.set(source, expected.set(prefix, { prefix, arriving, problem }))
      },
      request: (id, request) => {
        const others = this.requests(id).filter(({ skill }) => skill !== request.skill)
        this.#requests.set(id, [...others, request])
      },
      refuseAnswer: async (id, refusal) => {
        const { records } = await run(id)
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

const NONE: readonly SkillRequest[] = []

function arrivals(expected: ReadonlyMap<string, Expected>): Promise<unknown>[] {
  return [...expected.values()].map(({ arriving }) => arriving())
}

/** Names and reasons come from strangers: what they say must not drive a terminal. */
function warn(message: string): void {
  process.emitWarning(escapeText(message), 'ToolHubWarning')
}

function notStarted({ name, required }: ToolSource, cause: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', `The source ${name} could not be started: ${messageOf(cause)}`, {
    hint: required
      ? 'Repair or remove it; until then no call passes, because it is required.'
      : 'Repair or remove it; its tools are not there until then.',
    cause,
  })
}

function twice(source: ToolSource): ToolError {
  return new ToolError('CONFIG_INVALID', `The source ${source.name} is connected already.`)
}

/** A source whose code is loaded when it starts: a hub that has none of its kind never pays for it. */
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

/** A source in place of built-in tools that the owner has turned off: it brings none, and tells whoever calls one why. */
export function turnedOffSource(name: string, tools: readonly AnyTool[], why: () => ToolError): ToolSource {
  return {
    name,
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
