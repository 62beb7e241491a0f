import type { Grant } from '../approvals/index.ts'
import type {
  AnyTool,
  ApprovalReply,
  ApprovalRequest,
  CallEvent,
  CallOptions,
  FeatureServices,
  HandlerTool,
  HubOptions,
  Plugin,
  Principal,
  QuestionReply,
  QuestionRequest,
  Rule,
  SourcedRule,
  ToolInput,
  ToolOutput,
  ToolResult,
  ToolSource,
} from '../core/index.ts'
import type { PolicyLayers, PolicyWarning } from '../policy/index.ts'
import type { ArtifactReader } from '../records/artifacts/index.ts'
import type { HubChanged, RecordedLine } from '../records/log/index.ts'
import type { SandboxDescription } from '../sandbox/exec/index.ts'
import { assembleParts } from './create-runtime.ts'
import type { ExplainOptions } from './entrance.ts'
import type { Explanation } from './explain.ts'
import { checkHubOptions } from './hub-options.ts'
import type { ToolCard, ToolListing, WireTool } from './pipeline/registry.ts'
import { ToolHub } from './tool-hub.ts'
import type { UndoOptions, UndoReport } from './undo/undo.ts'

type ByName<T extends AnyTool> = { [K in T as K['name']]: K }

/** The governed tool runtime: every call goes down one road. Made by `createToolHub`. */
export interface Hub<T extends AnyTool = AnyTool> extends FeatureServices {
  /** The run of calls that name none. */
  readonly run: string
  /** How many keys and elements the arguments of a call may have, all together (`limits.entries`). */
  readonly maxInputEntries: number
  /** Calls a tool by value. */
  call<X extends AnyTool>(tool: X, input: ToolInput<X>, options?: CallOptions): Promise<ToolResult<ToolOutput<X>>>
  // Last: TypeScript explains only why the last overload does not match, and most calls are by name.
  /** Calls a tool by name. Never throws for a tool's failure: look at `ok`. */
  call<K extends keyof ByName<T> & string>(
    tool: K,
    input: ToolInput<ByName<T>[K]>,
    options?: CallOptions,
  ): Promise<ToolResult<ToolOutput<ByName<T>[K]>>>
  /** Calls a tool whose name comes from a model or a file: nothing is known of it before. */
  callDynamic(tool: string, input: unknown, options?: CallOptions): Promise<ToolResult>
  /** The same road, told as it goes: `call-started`, `approval-requested`, `call-progressed`, last `call-ended`. */
  stream<X extends AnyTool>(
    tool: X,
    input: ToolInput<X>,
    options?: CallOptions,
  ): AsyncIterable<CallEvent<ToolOutput<X>>>
  /** The same for a name that comes from a model or a file. */
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
  /** Approval requests that wait for a person, and how to answer them. */
  readonly approvals: Approvals
  /** Questions of tools that wait for a person, and how to answer them. */
  readonly questions: Questions
  /**
   * Answers that are remembered: `list()` returns those that still hold, `revoke(id)` returns whether there was one.
   */
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
  /** The rules that hold, by who says them, and what the skills that are there request. */
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
  /** The name of the principal, recorded with every call. */
  readonly name: string
  /** Calls a tool and yields its events; `call-ended` is last. */
  stream(tool: string, input: unknown, options?: CallOptions): AsyncIterable<CallEvent>
  /** What policy would decide for a call of this principal, and by which rule. Does nothing. */
  explain(tool: string, input: unknown, options?: CallOptions): Promise<Explanation>
}

type PluginTools<P extends Plugin> = P['tools'] extends readonly (infer X extends AnyTool)[] ? X : never

/** The tools of a hub by name: register, get, list, and list for a model. */
export interface ToolRegistry {
  /** Takes a tool, or a definition with `parameters` and a `handler` as it is. */
  register(tool: AnyTool | HandlerTool): void
  /** Finds a tool by canonical, wire or dialect name, visible or not. */
  get(name: string): AnyTool | undefined
  /** All tools, visible or not. */
  list(): readonly AnyTool[]
  /** The visible tools in the form model providers want, in one dialect: the profile's own unless said. */
  listForLLM(options?: { readonly dialect?: string }): WireTool[]
}

/** What waits for a person, and how to answer. Watching makes somebody reachable. */
export interface Approvals {
  /** What waits in this process now. */
  list(): readonly ApprovalRequest[]
  /** False when the request is unknown or answered already: the first answer wins. */
  reply(id: string, reply: ApprovalReply): boolean
  /**
   * Answers what waits in any process that shares the store, after changed arguments were checked: false when somebody was
   * faster, undefined when there is no such request.
   */
  answer(id: string, reply: ApprovalReply): Promise<boolean | undefined>
  /**
   * Calls the listener for every new request; while there is one, calls wait instead of failing. Returns a function
   * that removes it.
   */
  watch(listener: (request: ApprovalRequest) => void): () => void
}

/** What tools ask the person behind the agent, and how to answer. Watching makes somebody reachable. */
export interface Questions {
  /** What waits in this process now. */
  list(): readonly QuestionRequest[]
  /** Answers a question of any process that shares the store; tells whether it was the first. */
  reply(id: string, reply: QuestionReply, whose?: { readonly by?: string; readonly via?: string }): Promise<boolean>
  /** The same; false when somebody was faster, undefined when there is no such question. */
  answer(
    id: string,
    reply: QuestionReply,
    whose?: { readonly by?: string; readonly via?: string },
  ): Promise<boolean | undefined>
  /**
   * Calls the listener for every new question; while there is one, questions wait instead of failing. Returns a
   * function that removes it.
   */
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
