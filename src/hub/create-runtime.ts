import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { CallApprovals, Grants, ToolQuestions } from '../approvals/index.ts'
import {
  type CallEvent,
  type HubOptions,
  type Limits,
  type Principal,
  type Sandbox,
  systemClock,
  type Visibility,
} from '../core/index.ts'
import { escapeLine, once, VERSION } from '../lib/index.ts'
import { Breakers, BudgetLedger, Concurrency, Idempotency, LoopDetector, RateLimiter } from '../limits/index.ts'
import { compileVisibility } from '../policy/index.ts'
import type { RecordedLine } from '../records/log/index.ts'
import { createRedactor } from '../records/redaction/index.ts'
import { Metrics } from '../records/telemetry/index.ts'
import { type NetworkGuard, parseRanges, type WebFetchGuard } from '../sandbox/network/index.ts'
import { BackgroundProcesses, createMemoryStore, UntrustedFiles } from '../store/index.ts'
import { assertOwnDataFolder } from '../system/index.ts'
import { createFeatureHost } from './feature-host.ts'
import { Features } from './features.ts'
import { fromCoreToolsConfig, secretsOf } from './hub-options.ts'
import { PolicyHistory, policyLayers, rememberSight } from './hub-policy.ts'
import { CommandTaint } from './pipeline/exec-handle.ts'
import { HookChain } from './pipeline/hooks.ts'
import { Registry } from './pipeline/registry.ts'
import { PluginSetups } from './plugin-setups.ts'
import { protectedCode } from './protected-code.ts'
import { RunSandbox, type RunSandboxOptions, type SizeLimit } from './run-sandbox.ts'
import { newRunId, Runs } from './runs.ts'
import type { Parts } from './runtime.ts'
import { ledgerFolderOf, loadSecondParser, recoverCommands } from './second-parser.ts'
import { Sources } from './sources.ts'

/** The parts of a hub, and what only the hub itself uses. */
export interface Assembly {
  readonly parts: Parts
  readonly abilities: Features
  readonly registry: Registry
  readonly sources: Sources
  readonly runs: Runs
  /** Where the records of all runs are; `false` when none are kept. */
  readonly runsFolder: string | false
  readonly rules: PolicyHistory
  readonly visibility: Visibility
  readonly sandbox: Sandbox
  readonly plugins: PluginSetups
  readonly listeners: Set<(event: CallEvent) => void>
  readonly recordListeners: Set<(line: RecordedLine) => void>
  readonly network: () => NetworkGuard
  /** The doors to other folders, for a principal that has its own. */
  readonly doorsTo: (roots: NonNullable<Sandbox['roots']>) => RunSandbox
  /** What the network guard knows that a connection of an ability needs too. */
  readonly webFetchGuard: () => WebFetchGuard
  readonly defaultRun: string
  readonly defaultCaller: string
}

const DEFAULTS = {
  timeoutMs: 60_000,
  graceMs: 1_000,
  inputBytes: 10_000_000,
  inputDepth: 64,
  inputEntries: 50_000,
  readBytes: { usual: 5_242_880, most: 10_485_760 },
  httpBytes: { usual: 5_242_880, most: 10_485_760 },
  httpTimeoutMs: 15_000,
  downloadBytes: 104_857_600,
  undoBytes: 200_000_000,
  approvalMs: 300_000,
}

/** A command is a process or many, which a machine has fewer of than calls. */
const COMMANDS_AT_ONCE = { 'core/exec.run': 8 }

/** Wires the parts that the owner's options describe; nothing is written to the disk before the first call. */
export function assembleParts(options: HubOptions): Assembly {
  const clock = options.clock ?? systemClock
  const core = options.core && fromCoreToolsConfig(options.core)
  const limits: Limits = { ...core?.limits, ...options.limits }
  const data = resolve(options.data ?? '.tool-hub')
  assertOwnDataFolder(data)
  const sandbox = { ...core?.sandbox, ...options.sandbox }
  // A range with a mistake is refused when the hub is made, not by its first request.
  parseRanges(sandbox.blockedRanges ?? [])
  const timeoutMs = limits.timeoutMs ?? DEFAULTS.timeoutMs
  const durability = options.durability ?? 'effects'
  const listeners = new Set<(event: CallEvent) => void>()
  const recordListeners = new Set<(line: RecordedLine) => void>()
  const store = options.store ?? createMemoryStore()
  const loops = new LoopDetector()
  const folder = options.runs === false ? false : resolve(options.runs ?? 'runs')
  const processes = new BackgroundProcesses(join(data, 'processes'))
  const doorsOptions: RunSandboxOptions = {
    sandbox,
    readBytes: sizeLimit(limits.readBytes, DEFAULTS.readBytes),
    httpBytes: sizeLimit(limits.httpBytes, DEFAULTS.httpBytes),
    httpTimeoutMs: limits.httpTimeoutMs ?? DEFAULTS.httpTimeoutMs,
    downloadBytes: limits.downloadBytes ?? DEFAULTS.downloadBytes,
    commands: limits.commands ?? {},
    secrets: new Map(Object.entries(options.secrets ?? {})),
    clock,
    draftsFolder: join(data, 'drafts'),
    runsFolder: folder,
    userAgent: core?.userAgent ?? `tool-hub/${VERSION}`,
    hidden: folder === false ? [data] : [folder, data],
    protect: () => protectedCode({ ...options, sandbox }),
    ledgerFolder: ledgerFolderOf(data),
    lost: () => processes.lost(),
  }
  const doors = new RunSandbox(doorsOptions)
  const onAppend = (line: RecordedLine) => {
    for (const listener of recordListeners) listener(line)
  }
  const runs = new Runs({ folder, durability, clock, doors, onAppend, heads: options.store?.heads })
  const asking = {
    store,
    clock,
    waitsInStore: options.approvals?.inbox === true,
    outlives: options.store !== undefined,
  }
  const rules = new PolicyHistory(policyLayers({ ...options, sandbox }))
  const visibility = options.visibility ?? {}
  const plugins = new PluginSetups()
  const registry = new Registry()
  const redactor = createRedactor(secretsOf(options))
  const secrets = new Map(Object.entries(options.secrets ?? {}))
  const sources = new Sources({
    registry,
    redactor,
    secrets,
    data,
    clock,
    run: (id) => runs.open(id),
    network: () => doors.webFetchGuard(),
    machine: () => doors.programMachine(),
  })
  const abilities: Features = new Features(options, () => createFeatureHost(assembly, abilities))
  const untrusted = new UntrustedFiles(join(data, 'untrusted-files.jsonl'))
  const parts: Parts = {
    principal: undefined,
    rights: undefined,
    principalNow: (known) => principalNow(known, options),
    abilities,
    readArtifact: (run, ref, options) => runs.readArtifact(run, ref, options),
    store,
    registry,
    sources: {
      arriving: (name) => sources.arriving(name),
      problem: (name) => sources.problem(name) ?? plugins.problem(name),
      requests: (run) => sources.requests(run),
    },
    hooks: new HookChain(clock),
    clock,
    redactor,
    metrics: new Metrics(),
    approvals: new CallApprovals({
      responder: options.approve,
      timeoutMs: options.approvals?.timeoutMs ?? DEFAULTS.approvalMs,
      ...asking,
    }),
    questions: new ToolQuestions(asking),
    onQuestion: options.onQuestion ?? options.onClarificationRequest,
    processes,
    readyForCommands: once(async () => {
      await Promise.all([doors.loadProcessGuard(), reportLost(processes), recoverCommands(data)])
    }),
    secondParser: loadSecondParser,
    grants: new Grants({ store: store.grants, clock }),
    untrusted,
    commandTaint: new CommandTaint(untrusted),
    budget: new BudgetLedger(limits, store.budgets, clock),
    rate: new RateLimiter({ all: limits.rate, tools: perTool(limits, 'rate') }, store.rates, clock),
    concurrency: new Concurrency({
      all: limits.concurrency,
      tools: { ...COMMANDS_AT_ONCE, ...perTool(limits, 'concurrency') },
    }),
    breakers: new Breakers({}, clock),
    loops,
    idempotency: new Idempotency(store.keys, clock),
    settings: {
      timeoutMs,
      graceMs: DEFAULTS.graceMs,
      outputChars: limits.outputChars,
      inputBytes: limits.inputBytes ?? DEFAULTS.inputBytes,
      inputDepth: limits.inputDepth ?? DEFAULTS.inputDepth,
      inputEntries: limits.inputEntries ?? DEFAULTS.inputEntries,
      isSandboxRequired: sandbox.required !== false,
      isolatesRequests: sandbox.workspaces !== undefined && sandbox.root === undefined,
      durability,
      undoBytes: limits.undoBytes ?? DEFAULTS.undoBytes,
    },
    get policy() {
      return rules.policy
    },
    sees: rememberSight(compileVisibility(visibility)),
    ready: () => plugins.ready() ?? sources.blocking(),
    underWay: new Set(),
    run: (id) => runs.open(id),
    publish: (event) => publish(listeners, event),
    nextCallId: callIds(),
  }
  const assembly: Assembly = {
    parts,
    abilities,
    registry,
    sources,
    runs,
    runsFolder: folder,
    rules,
    visibility,
    sandbox,
    listeners,
    recordListeners,
    network: () => doors.network(),
    doorsTo: rememberDoors(
      (roots) => new RunSandbox({ ...doorsOptions, sandbox: { ...sandbox, ...asFolders(roots) } }),
    ),
    plugins,
    webFetchGuard: () => doors.webFetchGuard(),
    defaultRun: options.run ?? newRunId(clock),
    defaultCaller: options.caller ?? 'library',
  }
  return assembly
}

/** The same for the same folders: doors stay open until the hub is closed, and sessions of one principal have those of it. */
function rememberDoors(open: Assembly['doorsTo']): Assembly['doorsTo'] {
  const known = new Map<string, RunSandbox>()
  return (roots) => {
    const key = JSON.stringify(roots)
    const doors = known.get(key) ?? open(roots)
    known.set(key, doors)
    return doors
  }
}

/** The first folder, if it may be changed, is where relative paths begin; else the workspace of the run is. */
function asFolders(roots: NonNullable<Sandbox['roots']>): Pick<Sandbox, 'root' | 'roots'> {
  const [first, ...others] = roots
  return first?.mode === 'write' ? { root: first.path, roots: others } : { root: undefined, roots }
}

/** Background commands end with their hub; when that was killed, the next one says so, once and by name. */
async function reportLost(processes: BackgroundProcesses): Promise<void> {
  const lost = await processes.takeLost()
  if (lost.length === 0) return
  const names = lost.map(({ id, command, run }) => `${id} (${escapeLine(command)}, run ${run})`)
  process.emitWarning(`Background commands were lost when their hub ended: ${names.join('; ')}.`, 'ToolHubWarning')
}

function perTool<K extends 'rate' | 'concurrency'>({ tools = {} }: Limits, key: K) {
  const entries = Object.entries(tools).flatMap(([name, limits]) =>
    limits[key] === undefined ? [] : [[name, limits[key]] as const],
  )
  return Object.fromEntries(entries) as Record<string, NonNullable<(typeof tools)[string][K]>>
}

/** What the owner says is both: what a call gets that does not say how much it wants, and the most that it may want. */
function sizeLimit(owner: number | undefined, usual: SizeLimit): SizeLimit {
  return owner === undefined ? usual : { usual: owner, most: owner }
}

/** A listener that throws must not take the call down with it: its error goes to the process as its own. */
function publish(listeners: ReadonlySet<(event: CallEvent) => void>, event: CallEvent): void {
  for (const listener of listeners) {
    try {
      listener(event)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}

/** Ids that are unique over processes and cheap: 60 random bits a hub, then a counter. */
function callIds(): () => string {
  const prefix = `c${randomBytes(8).toString('base64url').replaceAll(/[-_]/g, '0').slice(0, 10)}`
  let count = 0
  return () => `${prefix}-${++count}`
}

/** What a principal may do now. One within another exists only as long as the outer one does. */
async function principalNow(known: Principal, { principals }: HubOptions): Promise<Principal | undefined> {
  if (!known.within) return principals ? principals(known) : known
  const within = await principalNow(known.within, { principals })
  return within && { ...known, within }
}
