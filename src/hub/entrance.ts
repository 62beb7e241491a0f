import {
  type AnyTool,
  type CallEvent,
  type CallOptions,
  isRunId,
  type ToolResult,
  type Visibility,
  withOwnNames,
} from '../core/index.ts'
import { sha256 } from '../lib/index.ts'
import { dialectOf, type Policy } from '../policy/index.ts'
import { type Explanation, explainCall } from './explain.ts'
import { Call } from './pipeline/call.ts'
import type { Enter } from './pipeline/context.ts'
import { listTools, type ToolCard, type ToolListing, type WireTool } from './pipeline/registry.ts'
import { travel } from './pipeline.ts'
import type { Parts, RunState } from './runtime.ts'

/** How a call is explained. */
export interface ExplainOptions extends CallOptions {
  /** Judged by these rules instead of those that hold. */
  readonly policy?: Policy
}

/** What an entrance needs to know of who comes in. */
export interface EntranceOptions {
  readonly parts: Parts
  readonly visibility: Visibility
  /** Run and caller of calls that name none. */
  readonly run: string
  readonly caller: string
  /** A run that is only talked about. */
  readonly rehearsal: (run: string) => RunState
}

const MAX_DIALECTS = 16

/** Where the calls of one come in: the owner's, or those of a principal. What it sees and may is in its parts. */
export class Entrance {
  readonly run: string
  readonly #options: EntranceOptions
  readonly #parts: Parts
  /** By dialect, as long as no tool changes. */
  readonly #cards = new Map<string | undefined, { readonly version: number; readonly cards: readonly ToolCard[] }>()

  constructor(options: EntranceOptions) {
    this.run = options.run
    this.#options = options
    this.#parts = options.parts
  }

  call(tool: string | AnyTool, input: unknown, options?: CallOptions): Promise<ToolResult> {
    return this.#start(tool, input, withOwnNames(options ?? {}))
  }

  stream(tool: string | AnyTool, input: unknown, options?: CallOptions): AsyncIterable<CallEvent> {
    const own = withOwnNames(options ?? {})
    return streamEvents((emit, signal) => this.#start(tool, input, { ...own, signal }, undefined, emit), own.signal)
  }

  explain(tool: string | AnyTool, input: unknown, { policy, ...options }: ExplainOptions = {}): Promise<Explanation> {
    const call = this.#newCall(tool, input, withOwnNames(options))
    const parts = policy ? { ...this.#parts, policy } : this.#parts
    return explainCall(parts, this.#options.rehearsal(call.run), call, tool)
  }

  list({ hidden = false }: { readonly hidden?: boolean } = {}): ToolListing[] {
    const { registry, sees } = this.#parts
    return listTools(registry, sees).filter(({ visible }) => visible || hidden)
  }

  cards({ dialect = this.#dialect }: { readonly dialect?: string } = {}): readonly ToolCard[] {
    const { registry, sees } = this.#parts
    const { version } = registry
    const known = this.#cards.get(dialect)
    if (known?.version === version) return known.cards
    const cards = Object.freeze(registry.cards({ dialect, only: (tool) => sees(tool).visible }))
    // Names of dialects come from outside.
    if (this.#cards.size >= MAX_DIALECTS) this.#cards.clear()
    this.#cards.set(dialect, { version, cards })
    return cards
  }

  listForLLM({ dialect = this.#dialect }: { readonly dialect?: string } = {}): WireTool[] {
    const { registry, sees } = this.#parts
    return registry.listForLLM({ dialect, only: (tool) => sees(tool).visible })
  }

  /** The same road with other parts, for the owner's own work such as undo. */
  travel(parts: Parts, tool: AnyTool, input: unknown, options: CallOptions): Promise<ToolResult> {
    return travel(parts, this.#newCall(tool, input, options), tool, this.#enter)
  }

  get #dialect(): string | undefined {
    return dialectOf(this.#options.visibility)
  }

  #start(
    tool: string | AnyTool,
    input: unknown,
    options: CallOptions,
    parent?: Call,
    emit?: (event: CallEvent) => void,
  ): Promise<ToolResult> {
    const call = this.#newCall(tool, input, options, parent, emit ?? options.onEvent)
    return travel(this.#parts, call, tool, this.#enter)
  }

  /** A nested call: its parent's run, session, caller, rights and signal. */
  readonly #enter: Enter = (tool, input, parent) => {
    const { session, callerKind, grants, approve, onQuestion, onAsk, untrusted } = parent.options
    const { run, caller } = parent
    const options = { run, session, caller, callerKind, grants, approve, onQuestion, onAsk, untrusted }
    return this.#start(tool, input, options, parent)
  }

  /** Where the owner has named a folder for workspaces, each request has its own, as a run; others share the run of the hub. */
  #runOf(requestId: string | undefined): string {
    if (typeof requestId !== 'string' || !this.#parts.settings.isolatesRequests) return this.run
    // Nobody may come into the run of another principal by the name of a request.
    const own = this.#parts.principal === undefined ? requestId : `${this.run}-${requestId}`
    return isRunId(own) ? own : `request-${sha256(own).slice(0, 32)}`
  }

  #newCall(
    tool: string | AnyTool,
    input: unknown,
    options: CallOptions,
    parent?: Call,
    emit?: (event: CallEvent) => void,
  ): Call {
    return new Call({
      id: this.#parts.nextCallId(),
      run: options.run ?? this.#runOf(options.requestId),
      wire: typeof tool === 'string' ? tool : String(tool?.name),
      caller: options.caller ?? this.#options.caller,
      options,
      input,
      parent,
      emit,
    })
  }
}

/** Runs a call when somebody starts to read, and hands its events over in order; who stops reading stops the call. */
async function* streamEvents(
  start: (emit: (event: CallEvent) => void, signal: AbortSignal) => Promise<ToolResult>,
  callerSignal?: AbortSignal,
): AsyncGenerator<CallEvent, void, undefined> {
  const stopped = new AbortController()
  const signal = callerSignal ? AbortSignal.any([callerSignal, stopped.signal]) : stopped.signal
  const waiting: CallEvent[] = []
  let wake: () => void = () => {}
  const done = start((event) => {
    waiting.push(event)
    wake()
  }, signal)
  let isDone = false
  const finished = done.finally(() => {
    isDone = true
    wake()
  })
  try {
    for (;;) {
      yield* waiting.splice(0)
      if (isDone && waiting.length === 0) break
      await new Promise<void>((resolve) => {
        wake = resolve
        if (waiting.length > 0 || isDone) resolve()
      })
    }
    await finished
  } finally {
    stopped.abort()
    // The call's own promise reports its failure; whoever stopped reading does not wait for it.
    finished.catch(() => {})
  }
}
