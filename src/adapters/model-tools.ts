import type { CallOptions, Failure, ToolResult } from '../core/index.ts'
import type { ToolCard } from '../hub/index.ts'
import { NO_JSON, parseArguments } from './model-calls.ts'
import type { ProviderSchema } from './schema/for-provider.ts'
import { type AdapterOptions, chooseCards, type ToolCaller } from './shown-tools.ts'

/** Options of the adapters for model providers; those of one `run` override them. */
export interface ModelToolOptions extends AdapterOptions, RunOptions {
  /**
   * Let the provider enforce the schema: for all tools, or for those named. A tool whose schema the strict mode cannot
   * express is not strict. Default: false; the hub validates either way.
   */
  readonly strict?: boolean | readonly string[]
}

/** Options for the calls of one `run`. */
export type RunOptions = Pick<
  CallOptions,
  'run' | 'session' | 'caller' | 'purpose' | 'signal' | 'timeoutMs' | 'approve' | 'onQuestion' | 'onEvent'
>

/** A call as a model wrote it. */
export interface ModelCall {
  readonly name: string
  /** JSON text, or the parsed arguments that some servers send. */
  readonly given: unknown
  readonly callerKind?: CallOptions['callerKind']
}

/** A tool in a provider's format, and the schema that it shows. */
export interface ModelTool<T> {
  readonly tool: T
  readonly card: ToolCard
  readonly schema: ProviderSchema
}

/**
 * The tools of a hub in a provider's format, rebuilt only when they change, and the calls that a model makes of them.
 */
export class ModelTools<T> {
  readonly #hub: ToolCaller
  readonly #options: ModelToolOptions
  readonly #make: (cards: readonly ToolCard[]) => readonly ModelTool<T>[]
  readonly #callOptions: RunOptions
  #cards: readonly ToolCard[] | undefined
  #tools: readonly T[] = []
  #schemas: ReadonlyMap<string, ProviderSchema> = new Map()

  constructor(
    hub: ToolCaller,
    options: ModelToolOptions,
    make: (cards: readonly ToolCard[]) => readonly ModelTool<T>[],
  ) {
    const { dialect: _1, names: _2, strict: _3, ...callOptions } = options
    // An unknown name is an error now; later its tool may have been removed.
    if (options.names) chooseCards(hub, options)
    this.#hub = hub
    this.#options = options
    this.#make = make
    this.#callOptions = callOptions
  }

  /** A copy: changing it has no effect here. */
  list(): T[] {
    this.#refresh()
    return [...this.#tools]
  }

  /** Makes calls concurrently and returns their answers in the given order. */
  async answer<C extends ModelCall, A>(
    calls: readonly C[],
    options: RunOptions | undefined,
    answer: (call: C, result: ToolResult) => A,
  ): Promise<A[]> {
    if (calls.length === 1) return [answer(calls[0]!, await this.call(calls[0]!, options))]
    const results = await Promise.all(calls.map((call) => this.call(call, options)))
    return results.map((result, index) => answer(calls[index]!, result))
  }

  /** Never throws: a call that cannot be made becomes a result that explains the problem to the model. */
  call({ name, given, callerKind }: ModelCall, options?: RunOptions): Promise<ToolResult> {
    const callOptions = options || callerKind ? { ...this.#callOptions, ...options, callerKind } : this.#callOptions
    const args = typeof given === 'string' ? parseArguments(given) : { value: given }
    if ('problem' in args) {
      return this.#hub.callDynamic(name, NO_JSON, callOptions).then((result) => withProblem(result, args.problem))
    }
    this.#refresh()
    const schema = this.#schemas.get(name)
    return this.#hub.callDynamic(name, schema ? schema.restore(args.value) : args.value, callOptions)
  }

  /** The hub returns the same cards until a tool changes. */
  #refresh(): void {
    const { dialect, names } = this.#options
    const cards = this.#hub.cards({ dialect })
    if (cards === this.#cards) return
    const made = this.#make(
      names ? cards.filter(({ name, tool }) => [name, tool].some((own) => names.includes(own))) : cards,
    )
    this.#tools = made.map(({ tool }) => tool)
    this.#schemas = new Map(made.map(({ card, schema }) => [card.name, schema]))
    this.#cards = cards
  }
}

/** The items of a message, or the list itself; empty if there is neither. */
export function itemsOf(given: object | null | undefined, key: string): readonly unknown[] {
  const items: unknown = Array.isArray(given) ? given : (given as Record<string, unknown> | null | undefined)?.[key]
  return Array.isArray(items) ? items : []
}

/** Whether strict mode is requested for a tool. */
export function wantsStrict({ name, tool }: ToolCard, strict: ModelToolOptions['strict']): boolean {
  return typeof strict === 'object' ? strict.includes(name) || strict.includes(tool) : strict === true
}

/** The recorded failure, reworded so that the model can correct itself; any other result is returned unchanged. */
function withProblem(result: ToolResult, problem: string): ToolResult {
  if (result.ok || result.error.code !== 'INPUT_SCHEMA_INVALID') return result
  const error = { ...result.error, message: problem, fix: { hint: 'Send the arguments as one JSON object.' } }
  const text = `${error.code}: ${problem} ${error.fix.hint}`
  return { ...result, summary: problem, content: [{ type: 'text', text }], error } satisfies Failure
}
