import type { CallApprovals, Grants, ToolQuestions } from '../approvals/index.ts'
import type {
  CallEvent,
  Capability,
  Clock,
  Durability,
  FeatureCall,
  FeatureName,
  HubOptions,
  Principal,
  ReadArtifact,
  RunCache,
  Sandbox,
  SeenFiles,
  Store,
  ToolResult,
  Visibility,
} from '../core/index.ts'
import type { Breakers, BudgetLedger, Concurrency, Idempotency, LoopDetector, RateLimiter } from '../limits/index.ts'
import type { Policy, ToolVisibility } from '../policy/index.ts'
import type { HubChanged, RecordedLine, RunRecords } from '../records/log/index.ts'
import type { Redactor } from '../records/redaction/index.ts'
import type { Metrics } from '../records/telemetry/index.ts'
import type { ResponseCache } from '../sandbox/network/index.ts'
import type { AskSecondParser } from '../shell/index.ts'
import type { BackgroundProcesses, UntrustedFiles } from '../store/index.ts'
import type { Features } from './features.ts'
import type { PolicyHistory } from './hub-policy.ts'
import type { Call } from './pipeline/call.ts'
import type { CommandTaint } from './pipeline/exec-handle.ts'
import type { HookChain } from './pipeline/hooks.ts'
import type { StartQueue } from './pipeline/record.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'
import type { Registry, ToolCatalog, ToolTable } from './pipeline/registry.ts'
import type { SandboxHandles } from './pipeline/targets.ts'
import type { PluginSetups } from './plugin-setups.ts'
import type { RunSandbox } from './run-sandbox.ts'
import type { Runs } from './runs.ts'
import type { Sources } from './sources.ts'

/** What one run holds while it is open. */
export interface RunState {
  readonly id: string
  readonly records: RunRecords | undefined
  readonly cache: RunCache
  readonly starts: StartQueue
  readonly sandbox: SandboxHandles
  /** The files it has read whole, by their hash. */
  readonly seen: SeenFiles
  /** Answers from the network that are still good. */
  readonly responses: ResponseCache
  /** The run has read content from outside. */
  readonly tainted: boolean
  taint(callId: string): void
  /** Calls the listener when the run becomes tainted. Returns a function that removes it. */
  onTaint(listener: () => void): () => void
  /** Resolves when its owner and its taint survive a loss of power; undefined when they do already. */
  marked(): Promise<void> | undefined
  /** Some other call than this one has read it. */
  taintedBeside(callId: string): boolean
  /** Calls under way; an idle run may be closed. */
  inFlight: number
}

/** The features of a hub, each made when the first call needs it. */
export interface FeatureRegistry {
  /** Makes those that a tool with these capabilities uses. Returns `undefined` if all of them exist. */
  prepare(capabilities: ReadonlySet<Capability>): Promise<void> | undefined
  /** What one call may use of a feature that was prepared. */
  handle(name: FeatureName, call: FeatureCall): unknown
}

/** The counters and gates of step 6 and step 8. */
export interface Limiters {
  readonly budget: BudgetLedger
  readonly rate: RateLimiter
  readonly concurrency: Concurrency
  readonly breakers: Breakers
  readonly loops: LoopDetector
  readonly idempotency: Idempotency<ToolResult>
}

/** What only calls that run commands need. */
export interface CommandRuntime {
  /** Loads what runs commands, and reports those that were lost with an earlier hub; once. */
  readonly ready: () => Promise<void>
  /** The second parser of command lines; `undefined` if it cannot be loaded. */
  readonly secondParser: () => Promise<AskSecondParser | undefined>
  /** Background commands, for the next hub in case this one is killed. */
  readonly processes: BackgroundProcesses
  /** Carries taint from files to runs, and from runs to files, through commands. */
  readonly taint: CommandTaint
}

/** Everything that a call uses. The owner of a hub has one, and each principal has a narrower one. */
export interface Runtime {
  /** Name of the principal that calls; `undefined` for the owner of the hub. */
  readonly principal: string | undefined
  /** The principal with all its rights. */
  readonly rights: Principal | undefined
  /** What a principal may do now; `undefined` if it no longer exists, such as a token that was revoked. */
  readonly principalNow: (known: Principal) => Promise<Principal | undefined>
  /** Run and caller of calls that name none. */
  readonly run: string
  readonly caller: string

  readonly registry: ToolTable
  /** The tools as this caller sees them. */
  readonly catalog: ToolCatalog
  /** Whether this caller sees a tool, and why not. */
  readonly sees: (tool: RegisteredTool) => ToolVisibility
  readonly sources: Sources
  readonly plugins: PluginSetups
  readonly hooks: HookChain
  readonly features: FeatureRegistry

  readonly policy: Policy
  readonly approvals: CallApprovals
  readonly questions: ToolQuestions
  readonly onQuestion: HubOptions['onQuestion']
  readonly grants: Grants
  readonly limits: Limiters
  readonly settings: Settings

  /** Opens a run, or returns the open one. Throws NOT_FOUND if it is the run of somebody else. */
  openRun(id: string): RunState | Promise<RunState>
  /** A run that is only asked about: nothing is written. */
  rehearsal(id: string): RunState
  /** Reads what a run keeps under a reference. */
  readonly readArtifact: (run: string, ref: string, options?: ReadArtifact) => Promise<Uint8Array>
  readonly commands: CommandRuntime
  /** Files with content from outside, of all runs. */
  readonly untrusted: UntrustedFiles

  /** What outlives the process. */
  readonly store: Store
  readonly clock: Clock
  readonly redactor: Redactor
  readonly metrics: Metrics
  /** Calls that have begun and not ended. */
  readonly underWay: Set<Call>
  /** Emits an event to everyone who watches the hub. */
  publish(event: CallEvent): void
  nextCallId(): string
}

/** The runtime of the owner, with what only the hub itself uses. */
export interface HubRuntime extends Runtime {
  readonly registry: Registry
  readonly features: Features
  readonly runs: Runs
  /** Where the records of all runs are; `false` if none are kept. */
  readonly runsFolder: string | false
  readonly rules: PolicyHistory
  readonly visibility: Visibility
  readonly sandboxOptions: Sandbox
  readonly sandbox: RunSandbox
  /** The sandbox of a principal that has folders of its own. */
  readonly sandboxFor: (roots: NonNullable<Sandbox['roots']>) => RunSandbox
  readonly listeners: Set<(event: CallEvent) => void>
  readonly recordListeners: Set<(line: RecordedLine) => void>
}

/** The numbers that hold for every call, if its tool or rule does not say less. */
export interface Settings {
  readonly timeoutMs: number
  readonly graceMs: number
  /** `undefined` if the owner sets no limit. */
  readonly outputChars: number | undefined
  readonly inputBytes: number
  readonly inputDepth: number
  readonly inputEntries: number
  /** Where there is no sandbox for commands, each of them asks. */
  readonly isSandboxRequired: boolean
  /** Calls that name a request and no run have a run of their own: each request has a folder of its own. */
  readonly isolatesRequests: boolean
  readonly durability: Durability
  /** How many bytes of replaced content a run keeps for undo. */
  readonly undoBytes: number
}

/** Ends a run when its calls have ended: flushes and unlocks its records, forgets what was counted for it. */
export async function endRun(
  { underWay, features, runs, limits, sources, grants }: HubRuntime,
  run: string,
): Promise<void> {
  const calls = () => [...underWay].filter((call) => call.run === run)
  while (calls().length > 0) await Promise.all(calls().map((call) => call.whenEnded()))
  await features.endRun(run)
  await runs.close(run)
  await limits.budget.endRun(run)
  limits.loops.endRun(run)
  sources.endRun(run)
  grants.endSession(`run:${run}`)
}

/** Records in the hub's own run that somebody changed how it works. Resolves when the record is on disk. */
export async function recordChange(runtime: Runtime, change: Omit<HubChanged, 'type'>): Promise<void> {
  const { records } = await runtime.openRun(runtime.run)
  records?.append(runtime.redactor.value({ type: 'hub-changed', ...change }))
  await records?.synced()
}
