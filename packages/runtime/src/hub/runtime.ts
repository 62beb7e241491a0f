import type {
  AnyTool,
  CallEvent,
  Clock,
  Durability,
  HubOptions,
  NestedCallOptions,
  Principal,
  RecordedOutputs,
  Sandbox,
  Store,
  ToolResult,
  UserText,
  Visibility,
} from '@tool-hub/core'
import type { Policy } from '@tool-hub/policy'
import type { AskSecondParser } from '@tool-hub/shell'
import type { CallApprovals, Grants, ToolQuestions } from '../approvals/index.ts'
import type { Breakers, BudgetLedger, Concurrency, Idempotency, LoopDetector, RateLimiter } from '../limits/index.ts'
import type { CallEnded, HubChanged } from '../records/log/index.ts'
import type { Redactor } from '../records/redaction/index.ts'
import type { Metrics } from '../records/telemetry.ts'
import type { BackgroundProcesses, UntrustedFiles } from '../store/index.ts'
import type { EarlierSessions } from './earlier-sessions.ts'
import type { FeatureRegistry, Features } from './features.ts'
import type { HiddenValues } from './hidden-values.ts'
import type { PolicyHistory } from './hub-policy.ts'
import type { Machines } from './machines.ts'
import type { Call } from './pipeline/call.ts'
import type { HookChain } from './pipeline/hooks.ts'
import type { Registry, ToolTable } from './pipeline/registry.ts'
import type { CommandTaint } from './pipeline/taint.ts'
import type { arrangeFor, ToolCatalog } from './pipeline/tool-catalog.ts'
import type { PluginSetups } from './plugin-setups.ts'
import type { RuleDoubts } from './rule-doubts.ts'
import type { RunOwner } from './run-ownership.ts'
import type { RunSandbox } from './run-sandbox.ts'
import type { Runs } from './runs.ts'
import type { ShadowLog } from './shadow-policy.ts'
import type { Sources } from './sources.ts'
import type { UserTexts } from './user-texts.ts'

/** The counters and gates of step 6 and step 8. */
export interface Limiters {
  readonly budget: BudgetLedger
  readonly rate: RateLimiter
  readonly concurrency: Concurrency
  readonly breakers: Breakers
  readonly loops: LoopDetector
  readonly idempotency: Idempotency<ToolResult>
}

/** The services that only calls with commands need. */
export interface CommandRuntime {
  /** Loads the process guard and reports commands that were lost with an earlier hub. Runs once. */
  readonly ready: () => Promise<void>
  /** The second parser of command lines; `undefined` if it cannot be loaded. */
  readonly secondParser: () => Promise<AskSecondParser | undefined>
  /** The list of background commands, which the next hub reads if this one is killed. */
  readonly processes: BackgroundProcesses
  /** Carries taint from files to runs, and from runs to files, through commands. */
  readonly taint: CommandTaint
  /** Redacts the values of files that commands do not see. */
  readonly hiddenValues: HiddenValues
}

/** Who calls, by default in which run, and with which rights. */
export interface RuntimeIdentity {
  /** Name of the principal that calls; `undefined` for the owner of the hub. */
  readonly principal: string | undefined
  /** The principal with all its rights. */
  readonly rights: Principal | undefined
  /** What a principal may do now; `undefined` if it no longer exists, such as a token that was revoked. */
  readonly principalNow: (known: Principal) => Promise<Principal | undefined>
  /** The default run and caller of calls. */
  readonly run: string
  readonly caller: string
  /** Owns the runs that this caller may use; `undefined` for the owner of the hub, who may use every run. */
  readonly runOwner: RunOwner | undefined
}

/** What people are asked, what they have answered, and what the user has said. */
export interface PeopleServices {
  readonly approvals: CallApprovals
  readonly questions: ToolQuestions
  readonly onQuestion: HubOptions['onQuestion']
  readonly grants: Grants
  readonly userTexts: UserTexts
}

/** Calls a tool from within a call, which becomes the parent. The nested call passes through the whole pipeline. */
export type CallNested = (
  runtime: Runtime,
  tool: string | AnyTool,
  input: unknown,
  parent: Call,
  options?: NestedCallOptions,
) => Promise<ToolResult>

/** The calls of a hub, of all its callers. */
export interface HubCalls {
  /** Those in progress. */
  readonly underWay: Set<Call>
  /**
   * The call that ended last. As long as one object of each shape is alive, a full garbage collection does not discard the
   * code that was optimised for it: the 4,000 calls after one take 33 us each instead of 64.
   */
  readonly lastEnded: { call?: Call; result?: ToolResult; end?: CallEnded }
  /** Listen to the events of all calls. */
  readonly listeners: Set<(event: CallEvent) => void>
  nextId(): string
  readonly callNested: CallNested
}

/** Everything that a call uses. The owner of a hub has one, and each principal has a narrower one. */
export interface Runtime {
  readonly identity: RuntimeIdentity

  readonly registry: ToolTable
  /** The tools as this caller sees them. */
  readonly catalog: ToolCatalog
  readonly sources: Sources
  readonly plugins: PluginSetups
  readonly hooks: HookChain
  readonly features: FeatureRegistry

  /** Reports what is doubtful about the rules at the first call. */
  readonly doubts: RuleDoubts
  readonly policy: Policy
  /** Decides every call a second time, without effect; `undefined` without one. */
  readonly shadowPolicy: Policy | undefined
  readonly shadow: ShadowLog
  readonly people: PeopleServices
  /** The runs of clients that do not name their conversations. */
  readonly earlierSessions: EarlierSessions
  readonly limits: Limiters
  readonly settings: Settings

  readonly runs: Runs
  /** Who may execute the calls of a run, where its record goes, and who executes a call. */
  readonly machines: Machines
  readonly commands: CommandRuntime
  /** The labels of files with content from outside, shared by all runs. */
  readonly untrusted: UntrustedFiles

  /** The persistent store. */
  readonly store: Store
  readonly clock: Clock
  readonly redactor: Redactor
  readonly metrics: Metrics
  readonly calls: HubCalls
}

/** The runtime of the owner, with everything that only the hub itself uses. */
export interface HubRuntime extends Runtime {
  readonly registry: Registry
  readonly features: Features
  /** Replaced by `setPolicy`. */
  policy: Policy
  /** Replaced by `setShadowPolicy`. */
  shadowPolicy: Policy | undefined
  /** Folder of the records of all runs; `false` if the hub keeps none. */
  readonly runsFolder: string | false
  readonly rules: PolicyHistory
  readonly visibility: Visibility
  /** Which tools a model is shown of those that are visible. */
  readonly arrangedFor: ReturnType<typeof arrangeFor>
  readonly sandboxOptions: Sandbox
  readonly sandbox: RunSandbox
  /** Returns the sandbox for a principal with its own folders. */
  readonly sandboxFor: (roots: NonNullable<Sandbox['roots']>) => RunSandbox
}

/** The settings of every call. Its tool or rule may set lower limits. */
export interface Settings {
  readonly timeoutMs: number
  readonly graceMs: number
  /** `undefined` if the owner sets no limit. */
  readonly outputChars: number | undefined
  readonly inputBytes: number
  readonly inputDepth: number
  readonly inputEntries: number
  /** Whether commands need approval if no sandbox is available for them. */
  readonly isSandboxRequired: boolean
  /** Whether calls with a request id but no run get a separate run, so that each request has its own folder. */
  readonly isolatesRequests: boolean
  readonly durability: Durability
  /** Which calls have their output on record. */
  readonly outputs: RecordedOutputs
  /** The most bytes of replaced content that a run keeps for undo. */
  readonly undoBytes: number
}

/** The names of the sources that still load their tools, and `plugins` while one is being set up. */
export function loading({ plugins, sources }: Pick<Runtime, 'plugins' | 'sources'>): readonly string[] {
  return [...(plugins.pending ? ['plugins'] : []), ...sources.loading]
}

/** Ends a run when its calls have ended: flushes and unlocks its records and discards its counters. */
export async function endRun(
  { calls: { underWay }, features, runs, limits, sources, people: { grants }, store }: HubRuntime,
  run: string,
): Promise<void> {
  const calls = () => [...underWay].filter((call) => call.run === run)
  while (calls().length > 0) await Promise.all(calls().map((call) => call.whenEnded()))
  await features.endRun(run)
  await runs.close(run)
  await limits.budget.endRun(run)
  limits.loops.forget(run)
  sources.endRun(run)
  grants.endSession(`run:${run}`)
  await store.userTexts.remove(run)
}

/** Records a configuration change in the hub's own run. Resolves when the record is on disk. */
export async function recordChange(runtime: HubRuntime, change: Omit<HubChanged, 'type'>): Promise<void> {
  const { records } = await runtime.runs.open(runtime.identity.run)
  records?.append(runtime.redactor.value({ type: 'hub-changed', ...change }))
  await records?.synced()
}

/** Adds what the user said to a run of this caller. */
export async function addUserText(
  runtime: Runtime,
  text: UserText,
  { run = runtime.identity.run }: { readonly run?: string },
): Promise<void> {
  const opened = await runtime.runs.open(run, runtime.identity.runOwner)
  await runtime.people.userTexts.add(opened, text)
  await opened.records?.written()
}
