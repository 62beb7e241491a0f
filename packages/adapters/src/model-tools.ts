import { type CallOptions, didYouMean, type Failure, type ToolCard, ToolError, type ToolResult } from '@tool-hub/core'
import { escapeText } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import { NO_JSON, parseArguments, userTextOf } from './model-calls.ts'
import { type Provider, type ProviderSchema, schemaFor } from './schema/for-provider.ts'

/** Options of every adapter. */
export interface AdapterOptions {
  /** The run whose records, budget and workspace the calls belong to. Default: the hub's own. */
  readonly run?: string
  /** The agent's conversation, for `limits.session` and for answers remembered for a session. Default: the run. */
  readonly session?: string
  /** Who calls; recorded. */
  readonly caller?: string
  /** The dialect: names and arguments under which the model sees the tools. Default: that of the profile. */
  readonly dialect?: string
  /** Only these tools, by canonical name or by the name that the model sees. */
  readonly names?: readonly string[]
}

/** What adapters use of a hub, or of the hub of a principal. */
export type ToolCaller = Pick<Hub, 'cards' | 'callDynamic'> & Partial<Pick<Hub, 'loading' | 'run'>>

/**
 * The cards of the tools that a model is shown, or of those in `names`. Throws TOOL_NOT_FOUND for a name that no visible
 * tool has.
 */
export function chooseCards(
  hub: ToolCaller,
  { dialect, names }: Pick<AdapterOptions, 'dialect' | 'names'>,
): readonly ToolCard[] {
  warnWhileLoading(hub)
  const cards = hub.cards({ dialect })
  if (!names) return cards.filter(({ shown }) => shown === undefined)
  const known = new Set(cards.flatMap(({ name, tool }) => [name, tool]))
  for (const name of names) if (!known.has(name)) throw noSuchTool(name, known)
  return namedCards(cards, names)
}

/** The hubs whose users know that their tools are incomplete. */
const warned = new WeakSet<ToolCaller>()

/** Warns, once per hub, that a list is made before all tools are there: a model would miss them without any error. */
function warnWhileLoading(hub: ToolCaller): void {
  const loading = hub.loading ?? []
  if (loading.length === 0 || warned.has(hub)) return
  warned.add(hub)
  const who = escapeText(loading.join(', '))
  process.emitWarning(
    `The list of tools for the model was made while ${who} still ${loading.length === 1 && who !== 'plugins' ? 'loads' : 'load'}, ` +
      'so their tools are missing in it. Call await hub.ready({ all: true }) first.',
    'ToolHubWarning',
  )
}

/** The cards of named tools, which are shown because they are named. */
function namedCards(cards: readonly ToolCard[], names: readonly string[]): ToolCard[] {
  const named = cards.filter(({ name, tool }) => names.includes(name) || names.includes(tool))
  return named.map(({ shown: _1, finds: _2, ...card }) => card)
}

function noSuchTool(name: string, known: ReadonlySet<string>): ToolError {
  return new ToolError('TOOL_NOT_FOUND', `No visible tool is named ${JSON.stringify(name)}.`, {
    hint: didYouMean(name, known) || 'See hub.list({ hidden: true }) for what there is and what hides it.',
  })
}

/** The parameters as the model sees them, and how to convert its arguments back. */
type ShownSchema = Pick<ProviderSchema, 'strict' | 'restore'> & { readonly schema: Record<string, unknown> }

/** The parameters of a card, converted for a provider if one is given. */
export function shownSchema({ parameters }: ToolCard, provider?: Provider): ShownSchema {
  return provider ? schemaFor(provider, parameters) : { schema: parameters, strict: false, restore: (args) => args }
}

/** Options of the adapters for model providers; those of one `run` override them. */
export interface ModelToolOptions extends AdapterOptions, RunOptions {
  /**
   * Let the provider enforce the schema: for all tools, or for those named. A tool whose schema the strict mode cannot
   * express is not strict. Default: false; the hub validates either way.
   */
  readonly strict?: boolean | readonly string[]
}

/** Options for the calls of one `run`. */
export interface RunOptions
  extends Pick<
    CallOptions,
    | 'run'
    | 'session'
    | 'caller'
    | 'purpose'
    | 'signal'
    | 'timeoutMs'
    | 'approve'
    | 'onQuestion'
    | 'onEvent'
    | 'userText'
  > {
  /**
   * The conversation, as the provider takes it: the texts of its messages with the role `user` are passed as `userText`.
   * Not for one in which others write as the user: documents that were searched for, or another agent.
   */
  readonly messages?: readonly unknown[]
}

/** A call as a model wrote it. */
export interface ModelCall {
  /** The id that the provider gave the call. */
  readonly id?: string
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
  /** Whether it is in the list; otherwise it is what a search answers with. Default: `true`. */
  readonly isListed?: boolean
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
  #made: ReadonlyMap<string, ModelTool<T>> = new Map()

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
    warnWhileLoading(this.#hub)
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
  call({ id, name, given, callerKind }: ModelCall, options?: RunOptions): Promise<ToolResult> {
    const chosen = { ...this.#callOptions, ...options, callerKind }
    const callOptions = withUserText({ ...chosen, ...asRequest(this.#hub, id, chosen.run) })
    const args = typeof given === 'string' ? parseArguments(given) : { value: given }
    if ('problem' in args) {
      return this.#hub.callDynamic(name, NO_JSON, callOptions).then((result) => withProblem(result, args.problem))
    }
    this.#refresh()
    const made = this.#made.get(name)
    return this.#hub.callDynamic(name, made ? made.schema.restore(args.value) : args.value, callOptions)
  }

  /** The name of the tool that searches others; `undefined` if no tool waits for a search. */
  get searchName(): string | undefined {
    this.#refresh()
    return this.#cards?.find(({ finds, shown }) => finds === 'search' && shown === undefined)?.name
  }

  /** The tools that a search has found. */
  found(result: ToolResult): readonly ModelTool<T>[] {
    const { matches } = (result.ok ? result.data : {}) as { readonly matches?: unknown }
    const later = new Map([...this.#made.values()].flatMap((made) => (made.card.shown ? [[made.card.tool, made]] : [])))
    return (Array.isArray(matches) ? matches : []).flatMap((match) => later.get(match?.tool) ?? [])
  }

  /** The hub returns the same cards until a tool changes. */
  #refresh(): void {
    const { dialect, names } = this.#options
    const cards = this.#hub.cards({ dialect })
    if (cards === this.#cards) return
    const made = this.#make(names ? namedCards(cards, names) : cards)
    this.#tools = made.flatMap(({ tool, isListed = true }) => (isListed ? [tool] : []))
    this.#made = new Map(made.map((each) => [each.card.name, each]))
    this.#cards = cards
  }
}

/**
 * The id of a provider's call as a request id, by which an approver finds the call again. Unlike the id of a request, it
 * does not start a run of its own.
 */
export function asRequest(
  hub: Pick<ToolCaller, 'run'>,
  id: string | undefined,
  run: string | undefined,
): Pick<CallOptions, 'requestId' | 'run'> {
  return id ? { requestId: id, run: run ?? hub.run } : {}
}

/** The options of a call, in which the messages have become what the user said. */
function withUserText(options: RunOptions & CallOptions): CallOptions {
  if (options.messages === undefined) return options
  const { messages, userText = [], ...others } = options
  return { ...others, userText: [...userTextOf(messages), userText].flat() }
}

/** The items of a message, or the list itself; empty if there is neither. */
export function itemsOf(given: object | null | undefined, key: string): readonly unknown[] {
  const items: unknown = Array.isArray(given) ? given : (given as Record<string, unknown> | null | undefined)?.[key]
  return Array.isArray(items) ? items : []
}

/** A text that a model sent, where it may have sent anything. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
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
