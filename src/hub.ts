import type { Grant } from './approval/grants.ts'
import type { CallOptions } from './call-options.ts'
import type { AnyTool, Hooks, Plugin, ToolInput, ToolOutput } from './define.ts'
import { ToolError } from './errors.ts'
import { fromAgentTool } from './from-agent-tool.ts'
import type { JailDescription as SandboxDescription } from './guards/process/jail/describe-jail.ts'
import { type Assembly, assembleParts } from './hub/assemble-parts.ts'
import { checkHubOptions } from './hub/check-hub-options.ts'
import { checkSandbox } from './hub/check-sandbox.ts'
import { endRun } from './hub/end-run.ts'
import { Entrance, type ExplainOptions } from './hub/entrance.ts'
import type { Explanation } from './hub/explanation.ts'
import type { ToolListing } from './hub/list-tools.ts'
import { PrincipalHubs } from './hub/principal-hubs.ts'
import type { UndoOptions, UndoReport } from './hub/undo/undo.ts'
import type { HubOptions, QuestionReply } from './options.ts'
import { checkPolicy, type PolicyWarning } from './policy/check-policy.ts'
import type { PolicyLayers } from './policy/compile-policy.ts'
import { unknownVisibilityEntries } from './policy/visibility.ts'
import type { Principal } from './principal.ts'
import type { ArtifactReader } from './record/artifact-reader.ts'
import type { HubChanged } from './record/events.ts'
import type { RecordedLine } from './record/run-records.ts'
import type { ApprovalReply, ApprovalRequest, CallEvent, QuestionRequest, ToolResult } from './result.ts'
import type { Rule, SourcedRule } from './rule.ts'
import type { ToolSource } from './source.ts'
import type { Origin } from './steps/registered-tool.ts'
import type { ToolCard, WireTool } from './steps/tool-card.ts'

type ByName<T extends AnyTool> = { [K in T as K['name']]: K }

/** The governed tool runtime: every call goes down one road. Made by `createToolHub`. */
export interface Hub<T extends AnyTool = AnyTool> {
  /** The run of calls that name none. */
  readonly run: string
  /** Calls a tool by name. Never throws for a tool's failure: look at `ok`. */
  call<K extends keyof ByName<T> & string>(
    tool: K,
    input: ToolInput<ByName<T>[K]>,
    options?: CallOptions,
  ): Promise<ToolResult<ToolOutput<ByName<T>[K]>>>
  /** Calls a tool by value. */
  call<X extends AnyTool>(tool: X, input: ToolInput<X>, options?: CallOptions): Promise<ToolResult<ToolOutput<X>>>
  /** Calls a tool whose name comes from a model or a file: nothing is known of it before. */
  callDynamic(tool: string, input: unknown, options?: CallOptions): Promise<ToolResult>
  /** The same road, told as it goes: `call-started`, `approval-requested`, `call-progressed`, last `call-ended`. */
  stream<X extends AnyTool>(
    tool: X,
    input: ToolInput<X>,
    options?: CallOptions,
  ): AsyncIterable<CallEvent<ToolOutput<X>>>
  stream(tool: string, input: unknown, options?: CallOptions): AsyncIterable<CallEvent>
  /** Adds a plugin's tools and hooks. */
  use<const P extends Plugin>(plugin: P): Hub<T | PluginTools<P>>
  /** Adds a source of tools that come and go. Returns how to disconnect it, which takes its tools away. */
  connect(source: ToolSource): () => Promise<void>
  /**
   * Resolves when every plugin is set up and every source started, rejects when a plugin that guards failed; with `all`,
   * when also every MCP server has connected or failed. Calls wait by themselves.
   */
  ready(options?: { readonly all?: boolean }): Promise<void>
  /** What an agent sees; with `hidden`, also what it does not see and why. */
  list(options?: { readonly hidden?: boolean }): ToolListing[]
  /** The visible tools as a door to the outside shows them: wire names, schemas, capabilities; sorted, the same until they change. */
  cards(options?: { readonly dialect?: string }): readonly ToolCard[]
  /** Hears when tools come, go or change. Returns how to stop. */
  onToolsChanged(listener: () => void): () => void
  /** What policy would say to a call, by which rule, and what would change it. Does nothing. */
  explain(tool: string | AnyTool, input: unknown, options?: ExplainOptions): Promise<Explanation>
  /** What a command could see, write and reach on this machine, under these options. */
  describeSandbox(options?: { readonly run?: string }): Promise<SandboxDescription>
  /** Doubts about the policy and the lists: names nobody has, rules that never decide. */
  check(): PolicyWarning[]
  /** The registry in S2's words. */
  readonly registry: ToolRegistry
  readonly approvals: Approvals
  readonly questions: Questions
  readonly grants: { list(): Promise<readonly Grant[]>; revoke(id: string): Promise<boolean> }
  /** Reads an artifact of a run by its reference. */
  artifact(ref: string, options?: { readonly run?: string }): Promise<Uint8Array>
  /** The same for one that may be large: whole, or a part of it, piece by piece. */
  openArtifact(ref: string, options?: { readonly run?: string }): Promise<ArtifactReader>
  /** Takes back what a call or a run changed in files; the last call that changed any, unless said. */
  undo(options?: UndoOptions): Promise<UndoReport>
  /** Counters and histograms as Prometheus text. */
  metrics(): Promise<string>
  /** The hub as somebody else may use it: narrower, never wider. */
  as(principal: Principal): PrincipalHub
  /** The rules that hold, by who says them. */
  policyLayers(): PolicyLayers
  /** Replaces the owner's rules, for every call that is judged from now on. */
  setPolicy(rules: readonly (Rule | SourcedRule)[]): void
  /** Hears every line of the records as it is written. Returns how to stop. */
  onRecord(listener: (line: RecordedLine) => void): () => void
  /** Everything that happens on this hub. Returns how to stop listening. */
  onEvent(listener: (event: CallEvent) => void): () => void
  /** Puts on record, in the hub's own run, that somebody has changed how it works; on the disk itself when it resolves. */
  recordChange(change: Omit<HubChanged, 'type'>): Promise<void>
  /** Ends the calls that killed processes left open, and gives back in how many runs; a run does so itself when it is used again. */
  recoverRuns(): Promise<number>
  /** Ends a run: its records are flushed and unlocked, its budget and cache are gone. */
  endRun(run: string): Promise<void>
  /** Takes no more calls, waits for those under way (or stops them), flushes every record. */
  close(options?: { readonly abort?: boolean }): Promise<void>
}

/** What a principal may use of a hub. */
export interface PrincipalHub
  extends Pick<Hub, 'run' | 'callDynamic' | 'list' | 'cards' | 'artifact' | 'endRun' | 'onToolsChanged'>,
    Pick<Hub, 'openArtifact' | 'ready' | 'connect' | 'registry'> {
  readonly name: string
  stream(tool: string, input: unknown, options?: CallOptions): AsyncIterable<CallEvent>
  explain(tool: string, input: unknown, options?: CallOptions): Promise<Explanation>
}

type PluginTools<P extends Plugin> = P['tools'] extends readonly (infer X extends AnyTool)[] ? X : never

/** S2's Register, Get, List, ListForLLM. */
export interface ToolRegistry {
  register(tool: AnyTool): void
  get(name: string): AnyTool | undefined
  list(): readonly AnyTool[]
  /** The visible tools in the form model providers want, in one dialect: the profile's own unless said. */
  listForLLM(options?: { readonly dialect?: string }): WireTool[]
}

/** What waits for a person, and how to answer. Watching makes somebody reachable. */
export interface Approvals {
  list(): readonly ApprovalRequest[]
  /** False when the request is unknown or answered already: the first answer wins. */
  reply(id: string, reply: ApprovalReply): boolean
  /**
   * Answers what waits in any process that shares the store, after changed arguments were checked: false when somebody was
   * faster, undefined when there is no such request.
   */
  answer(id: string, reply: ApprovalReply): Promise<boolean | undefined>
  watch(listener: (request: ApprovalRequest) => void): () => void
}

/** What tools ask the person behind the agent, and how to answer. Watching makes somebody reachable. */
export interface Questions {
  list(): readonly QuestionRequest[]
  /** Answers a question of any process that shares the store; tells whether it was the first. */
  reply(id: string, reply: QuestionReply, whose?: { readonly by?: string; readonly via?: string }): Promise<boolean>
  /** The same; false when somebody was faster, undefined when there is no such question. */
  answer(
    id: string,
    reply: QuestionReply,
    whose?: { readonly by?: string; readonly via?: string },
  ): Promise<boolean | undefined>
  watch(listener: (request: QuestionRequest) => void): () => void
}

/** Makes a hub with exactly the tools it is given; `createToolHub` adds the built-in ones. */
export function createHub(options: HubOptions, builtins: readonly AnyTool[]): Hub {
  checkHubOptions(options)
  const hub = new ToolHub(assembleParts(options))
  for (const tool of builtins) hub.add(tool, 'builtin')
  for (const plugin of options.plugins ?? []) hub.use(plugin)
  for (const tool of options.tools ?? []) hub.add(tool, 'caller')
  for (const source of options.sources ?? []) hub.connect(source)
  for (const hooks of options.hooks ?? []) hub.addHooks(hooks)
  return hub as Hub
}

const NOTHING_VISIBLE: PolicyWarning = {
  level: 'error',
  message: 'No tool is visible: profile, allow and deny together hide them all.',
  source: 'tools',
  hint: 'Widen tools.allow or tools.profile; tool-hub list --hidden says what hides each tool.',
}

function failureWarning(source: string, { message, fix }: ToolError): PolicyWarning {
  return { level: 'error', message, source, hint: fix.hint }
}

/** Tools of MCP servers that have not arrived are in their group all the same. */
function groupsOfArriving(prefixes: readonly string[]): string[] {
  return prefixes.some((prefix) => prefix.startsWith('mcp/')) ? ['group:mcp'] : []
}

class ToolHub {
  readonly run: string
  readonly registry: ToolRegistry
  readonly approvals: Approvals
  readonly questions: Questions
  readonly grants: Hub['grants']
  readonly #assembly: Assembly
  readonly #entrance: Entrance
  readonly #principals: PrincipalHubs
  readonly #plugins: Plugin[] = []
  #asks: Promise<unknown> | undefined
  #closing: Promise<void> | undefined

  constructor(assembly: Assembly) {
    const { parts, visibility, defaultRun: run, defaultCaller: caller, runs } = assembly
    this.#assembly = assembly
    this.#entrance = new Entrance({ parts, visibility, run, caller, rehearsal: (id) => runs.rehearsal(id) })
    this.#principals = new PrincipalHubs(assembly)
    this.run = run
    this.approvals = parts.desk
    this.questions = parts.questions
    this.grants = parts.grants
    this.registry = {
      register: (tool) => this.add(tool, 'caller'),
      get: (name) => parts.registry.get(name),
      list: () => parts.registry.list().map(({ tool }) => tool),
      listForLLM: (options) => this.#entrance.listForLLM(options),
    }
  }

  call(tool: string | AnyTool, input: unknown, options?: CallOptions): Promise<ToolResult> {
    return this.#entrance.call(tool, input, options)
  }

  callDynamic(tool: string, input: unknown, options?: CallOptions): Promise<ToolResult> {
    return this.#entrance.call(tool, input, options)
  }

  stream(tool: string | AnyTool, input: unknown, options?: CallOptions): AsyncIterable<CallEvent> {
    return this.#entrance.stream(tool, input, options)
  }

  as(principal: Principal): PrincipalHub {
    return this.#principals.hubOf(principal)
  }

  use(plugin: Plugin): this {
    this.#plugins.push(plugin)
    const { registry, plugins } = this.#assembly
    plugins.add(plugin, {
      registerTool: (tool) => {
        if (typeof tool !== 'object' || tool === null)
          throw new ToolError('CONFIG_INVALID', 'registerTool needs a tool.')
        registry.register('parameters' in tool ? fromAgentTool(tool) : tool, 'plugin', plugin)
      },
      addHooks: (hooks) => this.addHooks(hooks),
      onEvent: (listener) => this.onEvent(listener),
      withdraw: () => registry.offer(plugin, []),
    })
    return this
  }

  connect(source: ToolSource): () => Promise<void> {
    return this.#assembly.sources.connect(source)
  }

  async ready(options?: { readonly all?: boolean }): Promise<void> {
    await this.#assembly.parts.ready()
    await this.#assembly.sources.ready(options)
  }

  add(tool: AnyTool, origin: Origin): void {
    this.#assembly.registry.register(tool, origin)
  }

  addHooks(hooks: Hooks): void {
    this.#assembly.parts.hooks.add(hooks)
  }

  list(options?: { readonly hidden?: boolean }): ToolListing[] {
    return this.#entrance.list(options)
  }

  cards(options?: { readonly dialect?: string }): readonly ToolCard[] {
    return this.#entrance.cards(options)
  }

  onToolsChanged(listener: () => void): () => void {
    return this.#assembly.parts.registry.onChange(listener)
  }

  explain(tool: string | AnyTool, input: unknown, options?: ExplainOptions): Promise<Explanation> {
    return this.#entrance.explain(tool, input, options)
  }

  async describeSandbox({ run = this.run }: { readonly run?: string } = {}): Promise<SandboxDescription> {
    const { parts, runs, sandbox } = this.#assembly
    await parts.readyForCommands()
    return runs.rehearsal(run).doors.process().describe({ hosts: sandbox.network })
  }

  policyLayers(): PolicyLayers {
    return this.#assembly.rules.layers
  }

  setPolicy(rules: readonly (Rule | SourcedRule)[]): void {
    this.#assembly.rules.replace(rules)
  }

  check(): PolicyWarning[] {
    const { parts, plugins, sources, visibility, sandbox } = this.#assembly
    const layers = this.policyLayers()
    const tools = parts.registry.list()
    const arriving = sources.prefixes()
    const known = {
      names: tools.flatMap(({ names }) => names),
      groups: [...new Set([...tools.flatMap(({ groups }) => groups), ...groupsOfArriving(arriving)])],
      arriving,
    }
    const lists = unknownVisibilityEntries(visibility, known)
    return [
      ...plugins.failed.map(({ name, error }) => failureWarning(`plugin ${name}`, error)),
      ...sources.failed.map(({ name, error }) => failureWarning(`source ${name}`, error)),
      ...checkPolicy(layers, known),
      ...checkSandbox(sandbox, layers.owner ?? []),
      ...lists.map(({ list, level, message }) => ({ level, message, source: `tools.${list}` })),
      ...(arriving.length > 0 || tools.some((tool) => parts.sees(tool).visible) ? [] : [NOTHING_VISIBLE]),
    ]
  }

  artifact(ref: string, { run = this.run }: { readonly run?: string } = {}): Promise<Uint8Array> {
    return this.#assembly.runs.readArtifact(run, ref)
  }

  openArtifact(ref: string, { run = this.run }: { readonly run?: string } = {}): Promise<ArtifactReader> {
    return this.#assembly.runs.findArtifact(run, ref)
  }

  async undo(options: UndoOptions = {}): Promise<UndoReport> {
    const { undo } = await import('./hub/undo/undo.ts')
    const { caller, signal } = options
    return undo(this.#assembly, options, (parts, tool, input, run) =>
      this.#entrance.travel(parts, tool, input, { run, caller, signal }),
    )
  }

  metrics(): Promise<string> {
    const { metrics, underWay } = this.#assembly.parts
    metrics.inFlight = underWay.size
    return metrics.prometheus()
  }

  onRecord(listener: (line: RecordedLine) => void): () => void {
    const { recordListeners } = this.#assembly
    recordListeners.add(listener)
    return () => recordListeners.delete(listener)
  }

  onEvent(listener: (event: CallEvent) => void): () => void {
    const { listeners } = this.#assembly
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  async recordChange(change: Omit<HubChanged, 'type'>): Promise<void> {
    const { parts } = this.#assembly
    const { records } = await parts.run(this.run)
    records?.append(parts.redactor.value({ type: 'hub-changed', ...change }))
    await records?.synced()
  }

  async recoverRuns(): Promise<number> {
    const { runs, runsFolder } = this.#assembly
    if (runsFolder === false) return 0
    const { recoverRuns } = await import('./hub/recover-runs.ts')
    return recoverRuns(runs, runsFolder)
  }

  endRun(run: string): Promise<void> {
    return endRun(this.#assembly, run)
  }

  close({ abort = false }: { readonly abort?: boolean } = {}): Promise<void> {
    const { parts, runs } = this.#assembly
    runs.takeNoMore()
    // First: a call that waits for a person would hold everything up, and one that is stopped would take back what it asked.
    this.#asks ??= Promise.allSettled([parts.desk.close(), parts.questions.close()])
    if (abort) for (const call of parts.underWay) call.abort(new ToolError('ABORTED', 'The hub was closed.'))
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Everything is closed, also when something before it fails; the first failure is told. */
  async #close(): Promise<void> {
    const { parts, runs } = this.#assembly
    await this.#asks
    while (parts.underWay.size > 0) await Promise.all(Array.from(parts.underWay, (call) => call.whenEnded()))
    const closing = [
      this.#assembly.sources.close().finally(() => runs.closeAll()),
      ...this.#plugins.map(async (plugin) => plugin.close?.()),
    ]
    for (const outcome of await Promise.allSettled(closing)) {
      if (outcome.status === 'rejected') throw outcome.reason
    }
  }
}
