import {
  type AgentTool,
  type AnyTool,
  type CallEvent,
  type CallOptions,
  fromAgentTool,
  fromHandlerTool,
  type HandlerTool,
  type Hooks,
  isHandlerTool,
  lazyModule,
  type Plugin,
  type Principal,
  type Rule,
  type SourcedRule,
  ToolError,
  type ToolResult,
  type ToolSource,
} from '../core/index.ts'
import {
  checkPolicy,
  doubtNarrowGroup,
  type PolicyLayers,
  type PolicyWarning,
  unknownVisibilityEntries,
} from '../policy/index.ts'
import type { ArtifactReader } from '../records/artifacts/index.ts'
import type { HubChanged, RecordedLine } from '../records/log/index.ts'
import type { SandboxDescription } from '../sandbox/exec/index.ts'
import type { Assembly } from './create-runtime.ts'
import { endRun } from './end-run.ts'
import { Entrance, type ExplainOptions } from './entrance.ts'
import type { Explanation } from './explain.ts'
import type { Approvals, Hub, PrincipalHub, Questions, ToolRegistry } from './hub.ts'
import { checkSandbox } from './hub-policy.ts'
import type { Origin } from './pipeline/registered-tool.ts'
import type { ToolCard, ToolListing } from './pipeline/registry.ts'
import { PrincipalHubs } from './principal-hub.ts'
import { recordChange } from './record-change.ts'
import type { UndoOptions, UndoReport } from './undo/undo.ts'

const loadUndo = lazyModule(() => import('./undo/undo.ts'))
const loadRecoverRuns = lazyModule(() => import('./recovery.ts'))

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

/** A tool in one of the forms that a plugin may register. */
function asTool(tool: AnyTool | AgentTool | HandlerTool): AnyTool {
  if (isHandlerTool(tool)) return fromHandlerTool(tool)
  return 'parameters' in tool ? fromAgentTool(tool) : tool
}

/** A hub, wired: everything comes in here and goes on to the part that does it. */
export class ToolHub {
  readonly run: string
  readonly maxInputEntries: number
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
    this.maxInputEntries = parts.settings.inputEntries
    this.approvals = parts.approvals
    this.questions = parts.questions
    this.grants = parts.grants
    Object.assign(this, assembly.abilities.services)
    this.registry = {
      register: (tool) => this.add(isHandlerTool(tool) ? fromHandlerTool(tool) : tool, 'caller'),
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
        registry.register(asTool(tool), 'plugin', plugin)
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
    const { rules, sources } = this.#assembly
    const { requests = [], ...layers } = rules.layers
    return { ...layers, requests: [...requests, ...sources.requests(undefined)] }
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
    const narrow = doubtNarrowGroup(visibility.deny ?? [])
    return [
      ...plugins.failed.map(({ name, error }) => failureWarning(`plugin ${name}`, error)),
      ...sources.failed.map(({ name, error }) => failureWarning(`source ${name}`, error)),
      ...checkPolicy(layers, known),
      ...checkSandbox(sandbox, layers.owner ?? []),
      ...lists.map(({ list, level, message }) => ({ level, message, source: `tools.${list}` })),
      ...(narrow === undefined ? [] : [{ level: 'warning' as const, message: narrow, source: 'tools.deny' }]),
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
    const { undo } = await loadUndo()
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

  recordChange(change: Omit<HubChanged, 'type'>): Promise<void> {
    return recordChange(this.#assembly, change)
  }

  async recoverRuns(): Promise<number> {
    const { runs, runsFolder } = this.#assembly
    if (runsFolder === false) return 0
    const { recoverRuns } = await loadRecoverRuns()
    return recoverRuns(runs, runsFolder)
  }

  endRun(run: string): Promise<void> {
    return endRun(this.#assembly, run)
  }

  close({ abort = false }: { readonly abort?: boolean } = {}): Promise<void> {
    const { parts, runs } = this.#assembly
    runs.takeNoMore()
    this.#assembly.abilities.calm()
    // First: a call that waits for a person would hold everything up, and one that is stopped would take back what it asked.
    this.#asks ??= Promise.allSettled([parts.approvals.close(), parts.questions.close()])
    if (abort) for (const call of parts.underWay) call.abort(new ToolError('ABORTED', 'The hub was closed.'))
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Everything is closed, also when something before it fails; the first failure is told. */
  async #close(): Promise<void> {
    const { parts, runs } = this.#assembly
    await this.#asks
    while (parts.underWay.size > 0) await Promise.all(Array.from(parts.underWay, (call) => call.whenEnded()))
    const { abilities, sources } = this.#assembly
    const closing = [
      abilities
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
