import {
  type AnyTool,
  asTool,
  type CallEvent,
  type CallOptions,
  type FeatureServices,
  fromHandlerTool,
  type HubOptions,
  isHandlerTool,
  lazyModule,
  type Plugin,
  type Principal,
  type Rule,
  type SourcedRule,
  type ToolCard,
  ToolError,
  type ToolResult,
  type ToolSource,
} from '@tool-hub/core'
import type { PolicyLayers, PolicyWarning } from '@tool-hub/policy'
import type { SandboxDescription } from '@tool-hub/sandbox/exec'
import type { Grant } from '../approvals/index.ts'
import type { ArtifactReader } from '../records/artifacts.ts'
import type { HubChanged, RecordedLine } from '../records/log/index.ts'
import type { ClearedTaint, ClearTaintOptions } from './clear-taint.ts'
import { clearTaint } from './clear-taint.ts'
import { createRuntime, type HubLists } from './create-runtime.ts'
import type { ExplainOptions, Explanation } from './explain.ts'
import type {
  Approvals,
  ByName,
  InputOf,
  OutputOf,
  PluginTools,
  PrincipalHub,
  Questions,
  ToolRegistry,
} from './hub-api.ts'
import { checkHubOptions } from './hub-options.ts'
import { closedDuring } from './pipeline/settle.ts'
import type { CardOptions, ToolListing } from './pipeline/tool-catalog.ts'
import { callTool, streamTool } from './pipeline.ts'
import { loadExplain, PrincipalHubs } from './principal-hub.ts'
import { checkHub } from './rule-doubts.ts'
import type { RunRetention } from './run-ownership.ts'
import { addUserText, endRun, type HubRuntime, loading, recordChange } from './runtime.ts'
import type { ShadowReport } from './shadow-policy.ts'
import type { UndoOptions, UndoReport } from './undo/undo.ts'

const loadUndo = lazyModule(() => import('./undo/undo.ts'))
const loadRecovery = lazyModule(() => import('./recovery.ts'))

/** The governed tool runtime: every call passes through one pipeline. Created by `createToolHub`. */
export interface Hub<T extends AnyTool = AnyTool> extends ToolHub<T>, FeatureServices {}

/** Creates a hub with exactly the tools and features it is given; `createToolHub` passes all of them. */
export function createHub(options: HubOptions, lists: HubLists): Hub {
  return ToolHub.create(options, lists)
}

/** Adds services to a hub, those that are read when they are used as well. */
function withServices(hub: ToolHub, ...services: readonly (object | undefined)[]): Hub {
  for (const each of services) Object.defineProperties(hub, Object.getOwnPropertyDescriptors(each ?? {}))
  return hub as Hub
}

/** A hub without the services of its features. */
export class ToolHub<T extends AnyTool = AnyTool> {
  /** The run of calls that do not name one. */
  readonly run: string
  /** The most keys and elements that the arguments of a call may have in total (`limits.entries`). */
  readonly maxInputEntries: number
  /** The tools by name: register, get, list, and list for a model. */
  readonly registry: ToolRegistry
  /** The pending approvals and how to answer them. */
  readonly approvals: Approvals
  /** The pending questions of tools to a person and how to answer them. */
  readonly questions: Questions
  /** The remembered approvals: `list()` returns those in force, `revoke(id)` returns whether the grant existed. */
  readonly grants: { list(): Promise<readonly Grant[]>; revoke(id: string): Promise<boolean> }
  /** What processes on other machines have of the runs that are removed here. */
  readonly retention: RunRetention
  readonly #runtime: HubRuntime
  readonly #principals: PrincipalHubs
  readonly #plugins: Plugin[] = []
  #closingQueues: Promise<unknown> | undefined
  #closing: Promise<void> | undefined

  /** Creates a hub with the services of its features. */
  static create(options: HubOptions, { builtins, ...lists }: HubLists): Hub {
    checkHubOptions(options)
    const runtime = createRuntime(options, lists)
    const hub = withServices(new ToolHub(runtime), runtime.features.services, runtime.machines.start?.(runtime))
    for (const tool of builtins) runtime.registry.register(tool, 'builtin')
    for (const plugin of options.plugins ?? []) hub.use(plugin)
    for (const tool of options.tools ?? []) runtime.registry.register(tool, 'caller')
    for (const source of options.sources ?? []) hub.connect(source)
    for (const hooks of [options.hooks ?? []].flat()) runtime.hooks.add(hooks)
    runtime.features.connectTools(runtime.sources, runtime.store)
    runtime.doubts.start()
    return hub
  }

  private constructor(runtime: HubRuntime) {
    const { registry, catalog } = runtime
    this.#runtime = runtime
    this.#principals = new PrincipalHubs(runtime)
    this.run = runtime.identity.run
    this.retention = runtime.machines.retention
    this.maxInputEntries = runtime.settings.inputEntries
    this.approvals = runtime.people.approvals
    this.questions = runtime.people.questions
    this.grants = runtime.people.grants
    this.registry = {
      register: (tool) => registry.register(isHandlerTool(tool) ? fromHandlerTool(tool) : tool, 'caller'),
      get: (name) => registry.get(name),
      list: () => registry.list().map(({ tool }) => tool),
      listForLLM: (options) => catalog.listForLLM(options),
    }
  }

  /** Calls a tool by value or by name. Does not throw if the tool fails: check `ok` of the result. */
  call<X extends AnyTool | (keyof ByName<T> & string)>(
    tool: X,
    input: InputOf<T, X>,
    options?: CallOptions,
  ): Promise<ToolResult<OutputOf<T, X>>> {
    return callTool(this.#runtime, tool, input, options) as Promise<ToolResult<OutputOf<T, X>>>
  }

  /** Calls a tool whose name comes from a model or a file, without static types. */
  callDynamic(tool: string, input: unknown, options?: CallOptions): Promise<ToolResult> {
    return callTool(this.#runtime, tool, input, options)
  }

  /** Calls a tool by value or by name and yields its events: first `call-started`, last `call-ended`. */
  stream<X extends AnyTool | string>(
    tool: X,
    input: InputOf<T, X>,
    options?: CallOptions,
  ): AsyncIterable<CallEvent<OutputOf<T, X>>> {
    return streamTool(this.#runtime, tool, input, options) as AsyncIterable<CallEvent<OutputOf<T, X>>>
  }

  /** Returns what policy would decide for a call, by which rule, and what would change it. Executes nothing. */
  async explain(tool: string | AnyTool, input: unknown, options?: ExplainOptions): Promise<Explanation> {
    const { explainCall } = await loadExplain()
    return explainCall(this.#runtime, tool, input, options)
  }

  /**
   * Adds what the user said to a run. Rules with `from-user`, and calls after content from outside, look for their values
   * there. Pass the user's own words only, never text that a model or a tool wrote.
   */
  async addUserText(text: string | readonly string[], options: { readonly run?: string } = {}): Promise<void> {
    await addUserText(this.#runtime, text, options)
  }

  /**
   * Clears the taint of a run, on record: until it reads content from outside again, rules treat it as one that has not.
   * For an approver who has looked at that content; principals cannot do it themselves.
   */
  clearTaint(run: string, options: ClearTaintOptions): Promise<ClearedTaint> {
    return clearTaint(this.#runtime, run, options)
  }

  /** Returns the hub with the rights of a principal, which can only be narrower. */
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

  /** Connects a source whose tools may change at any time. Returns a function that disconnects it and removes its tools. */
  connect(source: ToolSource): () => Promise<void> {
    return this.#runtime.sources.connect(source)
  }

  /**
   * Resolves when every plugin is set up and every source has started; with `all`, also when every MCP server has
   * connected or failed. Rejects if a plugin that is required or has hooks failed, or `strict` refuses the rules. Calls
   * wait on their own.
   */
  async ready(options?: { readonly all?: boolean }): Promise<void> {
    const { plugins, sources, doubts } = this.#runtime
    await (plugins.pending ?? sources.pending ?? doubts.pending)
    await sources.ready(options)
  }

  /** What still loads its tools, such as `mcp` and `skills`; `ready({ all: true })` waits for it. */
  get loading(): readonly string[] {
    return loading(this.#runtime)
  }

  /** Lists the tools that an agent sees; with `hidden`, also the hidden ones and why they are hidden. */
  list(options?: { readonly hidden?: boolean }): ToolListing[] {
    return this.#runtime.catalog.list(options)
  }

  /**
   * Returns the visible tools with wire names, schemas and capabilities, sorted by name. A transport shows those without
   * `shown`; where there are many tools, the others are found by a search.
   */
  cards(options?: CardOptions): readonly ToolCard[] {
    return this.#runtime.catalog.cards(options)
  }

  /** Calls the listener when tools are added, removed or changed. Returns a function that removes the listener. */
  onToolsChanged(listener: () => void): () => void {
    return this.#runtime.registry.onChange(listener)
  }

  /** Describes what a command of this hub could read, write and reach on this machine. */
  async describeSandbox({ run = this.run }: { readonly run?: string } = {}): Promise<SandboxDescription> {
    const { commands, runs, sandboxOptions } = this.#runtime
    await commands.ready()
    return runs.rehearsal(run).sandbox.process().describe({ hosts: sandboxOptions.network })
  }

  /** Returns the current rules by author, and the requests of the installed skills. */
  policyLayers(): PolicyLayers {
    const { rules, sources } = this.#runtime
    const { requests = [], ...layers } = rules.layers
    return { ...layers, requests: [...requests, ...(sources.requests.get(undefined) ?? [])] }
  }

  /** Replaces the owner's rules for all decisions from now on. Throws if the rules are invalid. */
  setPolicy(rules: readonly (Rule | SourcedRule)[]): void {
    const runtime = this.#runtime
    runtime.doubts.test(rules)
    const isChanged = runtime.rules.replace(rules)
    runtime.policy = runtime.rules.policy
    if (runtime.shadowPolicy && isChanged) runtime.shadow.restart()
  }

  /**
   * Replaces the rules that are tried: they decide every call from now on a second time, without effect. `undefined` ends
   * it. Throws if the rules are invalid.
   */
  setShadowPolicy(rules: readonly (Rule | SourcedRule)[] | undefined): void {
    const runtime = this.#runtime
    const isChanged = runtime.rules.replaceShadow(rules)
    runtime.shadowPolicy = runtime.rules.shadow
    if (isChanged) runtime.shadow.restart()
  }

  /** Returns the rules that are tried; `undefined` without a shadow policy. */
  shadowPolicy(): readonly SourcedRule[] | undefined {
    return this.#runtime.rules.shadowRules
  }

  /** Returns where the shadow policy decides otherwise than the policy in force; `undefined` without a shadow policy. */
  shadowReport(): ShadowReport | undefined {
    const { shadowPolicy, shadow } = this.#runtime
    return shadowPolicy && shadow.report()
  }

  /** Returns warnings about the policy and the tool lists, such as unknown names and rules that never decide. */
  check(): PolicyWarning[] {
    this.#runtime.doubts.isReported = true
    return checkHub(this.#runtime, this.policyLayers())
  }

  /** Reads an artifact of a run by its reference. */
  artifact(ref: string, { run = this.run }: { readonly run?: string } = {}): Promise<Uint8Array> {
    return this.#runtime.runs.readArtifact(run, ref)
  }

  /** Opens an artifact that may be large, to read all or a range of it in chunks. */
  openArtifact(ref: string, { run = this.run }: { readonly run?: string } = {}): Promise<ArtifactReader> {
    return this.#runtime.runs.findArtifact(run, ref)
  }

  /** Undoes the file changes of a call or a run. Default: the last call that changed files. */
  async undo(options: UndoOptions = {}): Promise<UndoReport> {
    const { undo } = await loadUndo()
    return undo(this.#runtime, options)
  }

  /** Returns counters and histograms in the Prometheus text format. */
  metrics(): Promise<string> {
    const {
      metrics,
      calls: { underWay },
    } = this.#runtime
    metrics.inFlight = underWay.size
    return metrics.prometheus()
  }

  /** Calls the listener for every record line as it is written. Returns a function that removes the listener. */
  onRecord(listener: (line: RecordedLine) => void): () => void {
    const { recordListeners } = this.#runtime.runs
    recordListeners.add(listener)
    return () => recordListeners.delete(listener)
  }

  /** Calls the listener for every event of this hub. Returns a function that removes the listener. */
  onEvent(listener: (event: CallEvent) => void): () => void {
    const {
      calls: { listeners },
    } = this.#runtime
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Records a configuration change in the hub's own run. Resolves when the record is on disk. */
  recordChange(change: Omit<HubChanged, 'type'>): Promise<void> {
    return recordChange(this.#runtime, change)
  }

  /**
   * Records an end for calls that killed processes left open; `leased` looks only at runs that processes on several machines
   * have leased. Returns the number of runs. Reopening a run does the same.
   */
  async recoverRuns(options: { readonly only?: 'leased' } = {}): Promise<number> {
    const { recoverRuns } = await loadRecovery()
    return recoverRuns(this.#runtime, options)
  }

  /** Ends a run: flushes and unlocks its records and discards its budget and cache. */
  endRun(run: string): Promise<void> {
    return endRun(this.#runtime, run)
  }

  /** Accepts no more calls, waits for those in progress (with `abort`, stops them), and flushes every record. */
  close({ abort = false }: { readonly abort?: boolean } = {}): Promise<void> {
    const {
      runs,
      features,
      people: { approvals, questions },
      calls: { underWay },
      machines,
    } = this.#runtime
    runs.takeNoMore()
    features.calm()
    // Closed first: a call that waits for a person would block closing, and a stopped call would withdraw its request.
    this.#closingQueues ??= Promise.allSettled([approvals.close(), questions.close()])
    if (abort) for (const call of underWay) call.abort(closedDuring(call))
    void machines.executor.drain({ abort })
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Closes everything, even if a step fails, and then throws the first failure. */
  async #close(): Promise<void> {
    const {
      calls: { underWay },
      features,
      sources,
      runs,
      machines,
    } = this.#runtime
    await this.#closingQueues
    await machines.executor.drain({ abort: false })
    while (underWay.size > 0) await Promise.all(Array.from(underWay, (call) => call.whenEnded()))
    const closing = [
      features
        .close()
        .finally(() => sources.close())
        .finally(() => runs.closeAll())
        .finally(() => machines.close()),
      ...this.#plugins.map(async (plugin) => plugin.close?.()),
    ]
    for (const outcome of await Promise.allSettled(closing)) {
      if (outcome.status === 'rejected') throw outcome.reason
    }
  }
}
