import type { Grant } from '../approvals/index.ts'
import {
  type AgentTool,
  type AnyTool,
  type CallEvent,
  type CallOptions,
  type FeatureServices,
  fromAgentTool,
  fromHandlerTool,
  type HandlerTool,
  type HubOptions,
  isHandlerTool,
  lazyModule,
  type Plugin,
  type Principal,
  type Rule,
  type SourcedRule,
  ToolError,
  type ToolInput,
  type ToolOutput,
  type ToolResult,
  type ToolSource,
} from '../core/index.ts'
import type { PolicyLayers, PolicyWarning } from '../policy/index.ts'
import type { ArtifactReader } from '../records/artifacts/index.ts'
import type { HubChanged, RecordedLine } from '../records/log/index.ts'
import type { SandboxDescription } from '../sandbox/exec/index.ts'
import { createRuntime } from './create-runtime.ts'
import { type Explanation, explainCall } from './explain.ts'
import type { Approvals, ExplainOptions, PrincipalHub, Questions, ToolRegistry } from './hub-api.ts'
import { checkHubOptions } from './hub-options.ts'
import { checkHub } from './hub-policy.ts'
import type { ToolCard, ToolListing } from './pipeline/registry.ts'
import { callTool, streamTool } from './pipeline.ts'
import { PrincipalHubs } from './principal-hub.ts'
import { endRun, type HubRuntime, recordChange } from './runtime.ts'
import type { UndoOptions, UndoReport } from './undo/undo.ts'

const loadUndo = lazyModule(() => import('./undo/undo.ts'))
const loadRecovery = lazyModule(() => import('./recovery.ts'))

type ByName<T extends AnyTool> = { [K in T as K['name']]: K }
type PluginTools<P extends Plugin> = P['tools'] extends readonly (infer X extends AnyTool)[] ? X : never

/** The governed tool runtime: every call goes through one pipeline. Made by `createToolHub`. */
export interface Hub<T extends AnyTool = AnyTool> extends ToolHub<T>, FeatureServices {}

/** Makes a hub with exactly the tools it is given; `createToolHub` adds the built-in ones. */
export function createHub(options: HubOptions, builtins: readonly AnyTool[]): Hub {
  checkHubOptions(options)
  const runtime = createRuntime(options)
  const hub = Object.assign(new ToolHub(runtime), runtime.features.services)
  for (const tool of builtins) runtime.registry.register(tool, 'builtin')
  for (const plugin of options.plugins ?? []) hub.use(plugin)
  for (const tool of options.tools ?? []) runtime.registry.register(tool, 'caller')
  for (const source of options.sources ?? []) hub.connect(source)
  for (const hooks of options.hooks ?? []) runtime.hooks.add(hooks)
  return hub
}

/** A hub without the services of its features. */
export class ToolHub<T extends AnyTool = AnyTool> {
  /** The run of calls that name none. */
  readonly run: string
  /** How many keys and elements the arguments of a call may have, all together (`limits.entries`). */
  readonly maxInputEntries: number
  /** The tools by name: register, get, list, and list for a model. */
  readonly registry: ToolRegistry
  /** Approval requests that wait for a person, and how to answer them. */
  readonly approvals: Approvals
  /** Questions of tools that wait for a person, and how to answer them. */
  readonly questions: Questions
  /**
   * Answers that are remembered: `list()` returns those that still hold, `revoke(id)` returns whether there was one.
   */
  readonly grants: { list(): Promise<readonly Grant[]>; revoke(id: string): Promise<boolean> }
  readonly #runtime: HubRuntime
  readonly #principals: PrincipalHubs
  readonly #plugins: Plugin[] = []
  #closingQueues: Promise<unknown> | undefined
  #closing: Promise<void> | undefined

  constructor(runtime: HubRuntime) {
    const { registry, catalog } = runtime
    this.#runtime = runtime
    this.#principals = new PrincipalHubs(runtime)
    this.run = runtime.run
    this.maxInputEntries = runtime.settings.inputEntries
    this.approvals = runtime.approvals
    this.questions = runtime.questions
    this.grants = runtime.grants
    this.registry = {
      register: (tool) => registry.register(isHandlerTool(tool) ? fromHandlerTool(tool) : tool, 'caller'),
      get: (name) => registry.get(name),
      list: () => registry.list().map(({ tool }) => tool),
      listForLLM: (options) => catalog.listForLLM(options),
    }
  }

  /** Calls a tool by value. */
  call<X extends AnyTool>(tool: X, input: ToolInput<X>, options?: CallOptions): Promise<ToolResult<ToolOutput<X>>>
  // Last: TypeScript explains only why the last overload does not match, and most calls are by name.
  /** Calls a tool by name. Never throws for a tool's failure: look at `ok`. */
  call<K extends keyof ByName<T> & string>(
    tool: K,
    input: ToolInput<ByName<T>[K]>,
    options?: CallOptions,
  ): Promise<ToolResult<ToolOutput<ByName<T>[K]>>>
  call(tool: string | AnyTool, input: unknown, options?: CallOptions): Promise<ToolResult> {
    return callTool(this.#runtime, tool, input, options)
  }

  /** Calls a tool whose name comes from a model or a file: nothing is known of it before. */
  callDynamic(tool: string, input: unknown, options?: CallOptions): Promise<ToolResult> {
    return callTool(this.#runtime, tool, input, options)
  }

  /** Calls a tool and yields its events: `call-started`, `approval-requested`, `call-progressed`, last `call-ended`. */
  stream<X extends AnyTool>(
    tool: X,
    input: ToolInput<X>,
    options?: CallOptions,
  ): AsyncIterable<CallEvent<ToolOutput<X>>>
  /** The same for a name that comes from a model or a file. */
  stream(tool: string, input: unknown, options?: CallOptions): AsyncIterable<CallEvent>
  stream(tool: string | AnyTool, input: unknown, options?: CallOptions): AsyncIterable<CallEvent> {
    return streamTool(this.#runtime, tool, input, options)
  }

  /** What policy would decide for a call, by which rule, and what would change it. Does nothing. */
  explain(tool: string | AnyTool, input: unknown, options?: ExplainOptions): Promise<Explanation> {
    return explainCall(this.#runtime, tool, input, options)
  }

  /** The hub as somebody else may use it: narrower, never wider. */
  as(principal: Principal): PrincipalHub {
    return this.#principals.hubOf(principal)
  }

  /** Adds a plugin's tools and hooks. */
  use<const P extends Plugin>(plugin: P): Hub<T | PluginTools<P>> {
    this.#plugins.push(plugin)
    const { registry, plugins, hooks } = this.#runtime
    plugins.add(plugin, {
      registerTool: (tool) => {
        if (typeof tool !== 'object' || tool === null)
          throw new ToolError('CONFIG_INVALID', 'registerTool needs a tool.')
        registry.register(asTool(tool), 'plugin', plugin)
      },
      addHooks: (added) => hooks.add(added),
      onEvent: (listener) => this.onEvent(listener),
      withdraw: () => registry.offer(plugin, []),
    })
    return this as ToolHub as Hub<T | PluginTools<P>>
  }

  /** Adds a source of tools that come and go. Returns a function that disconnects it and removes its tools. */
  connect(source: ToolSource): () => Promise<void> {
    return this.#runtime.sources.connect(source)
  }

  /**
   * Resolves when every plugin is set up and every source started, rejects when a plugin that guards failed; with `all`,
   * when also every MCP server has connected or failed. Calls wait by themselves.
   */
  async ready(options?: { readonly all?: boolean }): Promise<void> {
    const { plugins, sources } = this.#runtime
    await (plugins.pending ?? sources.blocking())
    await sources.ready(options)
  }

  /** What an agent sees; with `hidden`, also what it does not see and why. */
  list(options?: { readonly hidden?: boolean }): ToolListing[] {
    return this.#runtime.catalog.list(options)
  }

  /** The visible tools as a transport shows them: wire names, schemas, capabilities; sorted, the same until they change. */
  cards(options?: { readonly dialect?: string }): readonly ToolCard[] {
    return this.#runtime.catalog.cards(options)
  }

  /** Calls the listener when tools come, go or change. Returns a function that removes it. */
  onToolsChanged(listener: () => void): () => void {
    return this.#runtime.registry.onChange(listener)
  }

  /** What a command could see, write and reach on this machine, under these options. */
  async describeSandbox({ run = this.run }: { readonly run?: string } = {}): Promise<SandboxDescription> {
    const { commands, rehearsal, sandboxOptions } = this.#runtime
    await commands.ready()
    return rehearsal(run).sandbox.process().describe({ hosts: sandboxOptions.network })
  }

  /** The current rules, by who wrote them, and what the skills that are there request. */
  policyLayers(): PolicyLayers {
    const { rules, sources } = this.#runtime
    const { requests = [], ...layers } = rules.layers
    return { ...layers, requests: [...requests, ...sources.requests(undefined)] }
  }

  /** Replaces the owner's rules, for every call that is decided from now on. */
  setPolicy(rules: readonly (Rule | SourcedRule)[]): void {
    this.#runtime.rules.replace(rules)
  }

  /** Doubts about the policy and the lists: names nobody has, rules that never decide. */
  check(): PolicyWarning[] {
    return checkHub(this.#runtime, this.policyLayers())
  }

  /** Reads an artifact of a run by its reference. */
  artifact(ref: string, { run = this.run }: { readonly run?: string } = {}): Promise<Uint8Array> {
    return this.#runtime.runs.readArtifact(run, ref)
  }

  /** The same for one that may be large: whole, or a part of it, piece by piece. */
  openArtifact(ref: string, { run = this.run }: { readonly run?: string } = {}): Promise<ArtifactReader> {
    return this.#runtime.runs.findArtifact(run, ref)
  }

  /** Undoes what a call or a run changed in files. Default: the last call that changed any. */
  async undo(options: UndoOptions = {}): Promise<UndoReport> {
    const { undo } = await loadUndo()
    return undo(this.#runtime, options)
  }

  /** Counters and histograms as Prometheus text. */
  metrics(): Promise<string> {
    const { metrics, underWay } = this.#runtime
    metrics.inFlight = underWay.size
    return metrics.prometheus()
  }

  /** Calls the listener for every line of the records as it is written. Returns a function that removes it. */
  onRecord(listener: (line: RecordedLine) => void): () => void {
    const { recordListeners } = this.#runtime
    recordListeners.add(listener)
    return () => recordListeners.delete(listener)
  }

  /** Calls the listener for everything that happens on this hub. Returns a function that removes it. */
  onEvent(listener: (event: CallEvent) => void): () => void {
    const { listeners } = this.#runtime
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Records in the hub's own run that somebody changed how it works. Resolves when the record is on disk. */
  recordChange(change: Omit<HubChanged, 'type'>): Promise<void> {
    return recordChange(this.#runtime, change)
  }

  /** Ends the calls that killed processes left open. Returns in how many runs; a run also does so when it is used again. */
  async recoverRuns(): Promise<number> {
    const { runs, runsFolder } = this.#runtime
    if (runsFolder === false) return 0
    const { recoverRuns } = await loadRecovery()
    return recoverRuns(runs, runsFolder)
  }

  /** Ends a run: its records are flushed and unlocked, its budget and cache are gone. */
  endRun(run: string): Promise<void> {
    return endRun(this.#runtime, run)
  }

  /** Takes no more calls, waits for those under way (or stops them), flushes every record. */
  close({ abort = false }: { readonly abort?: boolean } = {}): Promise<void> {
    const { runs, features, approvals, questions, underWay } = this.#runtime
    runs.takeNoMore()
    features.calm()
    // First: a call that waits for a person would hold everything up, and a call that is stopped would withdraw its request.
    this.#closingQueues ??= Promise.allSettled([approvals.close(), questions.close()])
    if (abort) for (const call of underWay) call.abort(new ToolError('ABORTED', 'The hub was closed.'))
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Closes everything, also when something before it fails; then it throws the first failure. */
  async #close(): Promise<void> {
    const { underWay, features, sources, runs } = this.#runtime
    await this.#closingQueues
    while (underWay.size > 0) await Promise.all(Array.from(underWay, (call) => call.whenEnded()))
    const closing = [
      features
        .close()
        .finally(() => sources.close())
        .finally(() => runs.closeAll()),
      ...this.#plugins.map(async (plugin) => plugin.close?.()),
    ]
    for (const outcome of await Promise.allSettled(closing)) {
      if (outcome.status === 'rejected') throw outcome.reason
    }
  }
}

/** A tool in one of the forms that a plugin may register. */
function asTool(tool: AnyTool | AgentTool | HandlerTool): AnyTool {
  if (isHandlerTool(tool)) return fromHandlerTool(tool)
  return 'parameters' in tool ? fromAgentTool(tool) : tool
}
