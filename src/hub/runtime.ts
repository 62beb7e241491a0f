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
  SeenFiles,
  SkillRequest,
  Store,
  ToolError,
  ToolResult,
} from '../core/index.ts'
import type { Breakers, BudgetLedger, Concurrency, Idempotency, LoopDetector, RateLimiter } from '../limits/index.ts'
import type { Policy, ToolVisibility } from '../policy/index.ts'
import type { RunRecords } from '../records/log/index.ts'
import type { Redactor } from '../records/redaction/index.ts'
import type { Metrics } from '../records/telemetry/index.ts'
import type { ResponseCache } from '../sandbox/network/index.ts'
import type { AskSecondParser } from '../shell/index.ts'
import type { BackgroundProcesses, UntrustedFiles } from '../store/index.ts'
import type { Call } from './pipeline/call.ts'
import type { CommandTaint } from './pipeline/exec-handle.ts'
import type { HookChain } from './pipeline/hooks.ts'
import type { StartQueue } from './pipeline/record.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'
import type { ToolTable } from './pipeline/registry.ts'
import type { SandboxHandles } from './pipeline/targets.ts'

/** What one run holds while it is open. */
export interface RunState {
  readonly id: string
  readonly records: RunRecords | undefined
  readonly cache: RunCache
  readonly starts: StartQueue
  readonly doors: SandboxHandles
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

/** The abilities of a hub, each made when the first call needs it. */
export interface FeatureRegistry {
  /** Makes those that a tool with these capabilities uses; nothing when all are there. */
  prepare(capabilities: ReadonlySet<Capability>): Promise<void> | undefined
  /** What one call may use of an ability that was prepared. */
  handle(name: FeatureName, call: FeatureCall): unknown
}

/** Everything the road of a call calls on; the hub wires it once, and once for each principal. */
export interface Parts {
  /** Who calls, where others come in by the same door. */
  readonly principal: string | undefined
  /** The same with all that it may. */
  readonly rights: Principal | undefined
  /** What a principal may do now; undefined if it no longer exists, such as a token that was revoked. */
  readonly principalNow: (known: Principal) => Promise<Principal | undefined>
  /** Memory, sessions, messages and the others that are neither files, network nor commands. */
  readonly abilities: FeatureRegistry
  /** What a run keeps under a reference. */
  readonly readArtifact: (run: string, ref: string, options?: ReadArtifact) => Promise<Uint8Array>
  /** What outlives the process. */
  readonly store: Store
  readonly registry: ToolTable
  readonly hooks: HookChain
  readonly clock: Clock
  readonly redactor: Redactor
  readonly metrics: Metrics
  readonly approvals: CallApprovals
  readonly questions: ToolQuestions
  readonly grants: Grants
  /** Files that hold content from outside, of all runs. */
  readonly untrusted: UntrustedFiles
  /** Carries taint from files to runs, and from runs to files, through commands. */
  readonly commandTaint: CommandTaint
  readonly onQuestion: HubOptions['onQuestion']
  /** Background commands, for the next hub to know should this one be killed. */
  readonly processes: BackgroundProcesses
  /** Loads what runs commands, and finds those that went away with an earlier hub; once. */
  readonly readyForCommands: () => Promise<void>
  /** The second reader of command lines, loaded when the first one comes; undefined where it cannot be. */
  readonly secondParser: () => Promise<AskSecondParser | undefined>
  readonly budget: BudgetLedger
  readonly rate: RateLimiter
  readonly concurrency: Concurrency
  readonly breakers: Breakers
  readonly loops: LoopDetector
  readonly idempotency: Idempotency<ToolResult>
  readonly settings: Settings
  readonly policy: Policy
  /** Whether an agent sees a tool, and why not. */
  readonly sees: (tool: RegisteredTool) => ToolVisibility
  /** What may bring tools that are not there yet, and what skills ask for. */
  readonly sources: {
    arriving(name: string): Promise<unknown> | undefined
    problem(name: string): ToolError | undefined
    requests(run: string | undefined): readonly SkillRequest[]
  }
  /** Plugins that are still being set up; nothing is judged before they are, because they may bring hooks. */
  ready(): Promise<void> | undefined
  run(id: string): RunState | Promise<RunState>
  /** Calls that have begun and not ended. */
  readonly underWay: Set<Call>
  /** Tells everybody who watches the hub. */
  publish(event: CallEvent): void
  nextCallId(): string
}

/** The numbers that hold for every call unless its tool or rule says less. */
export interface Settings {
  readonly timeoutMs: number
  readonly graceMs: number
  /** As far as the owner says something. */
  readonly outputChars: number | undefined
  readonly inputBytes: number
  readonly inputDepth: number
  readonly inputEntries: number
  /** Where commands cannot be fenced in, every one is asked. */
  readonly isSandboxRequired: boolean
  /** Calls that name a request and no run have a run of their own: each request has a folder of its own. */
  readonly isolatesRequests: boolean
  readonly durability: Durability
  /** Most bytes of what changes replaced that a run keeps for undo. */
  readonly undoBytes: number
}
