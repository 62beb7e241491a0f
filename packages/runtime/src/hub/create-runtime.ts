import { join, resolve } from 'node:path'
import {
  type AnyTool,
  arrangementsOf,
  type Clock,
  DEFAULT_LIMITS,
  type Durability,
  type FeatureDefinition,
  type HubOptions,
  type Limits,
  type Principal,
  RECORDED_OUTPUTS,
  type RecordedOutputs,
  type Sandbox,
  type Store,
  systemClock,
  ToolError,
} from '@tool-hub/core'
import { escapeLine, once, VERSION } from '@tool-hub/core/lib'
import { compileVisibility, dialectOf } from '@tool-hub/policy'
import { parseHosts, parseRanges } from '@tool-hub/sandbox/network'
import { assertOwnDataFolder } from '@tool-hub/sandbox/system'
import { CallApprovals, Grants, ToolQuestions } from '../approvals/index.ts'
import { Breakers, BudgetLedger, Concurrency, Idempotency, LoopDetector, RateLimiter } from '../limits/index.ts'
import { createRedactor } from '../records/redaction/index.ts'
import { Metrics } from '../records/telemetry.ts'
import { BackgroundProcesses, createInProcessStore, type FeatureTables, UntrustedFiles } from '../store/index.ts'
import { EarlierSessions } from './earlier-sessions.ts'
import { createFeatureHost } from './feature-host.ts'
import { Features } from './features.ts'
import { HiddenValues } from './hidden-values.ts'
import { fromCoreToolsConfig, mergeSandbox, secretsOf } from './hub-options.ts'
import { PolicyHistory, policyLayers } from './hub-policy.ts'
import { type ConnectMachines, type Machines, ONE_MACHINE } from './machines.ts'
import { callIds } from './pipeline/call.ts'
import { HookChain } from './pipeline/hooks.ts'
import { Registry } from './pipeline/registry.ts'
import { stoppedBy } from './pipeline/settle.ts'
import { CommandTaint } from './pipeline/taint.ts'
import { arrangeFor, ToolCatalog } from './pipeline/tool-catalog.ts'
import { callNested } from './pipeline.ts'
import { PluginSetups } from './plugin-setups.ts'
import { protectedCode } from './protected-code.ts'
import { RuleDoubts } from './rule-doubts.ts'
import { RunSandbox, type RunSandboxOptions, type SizeLimit } from './run-sandbox.ts'
import { newRunId, Runs } from './runs.ts'
import type { HubRuntime, Limiters } from './runtime.ts'
import { ledgerFolderOf, loadSecondParser, recoverCommands } from './second-parser.ts'
import { ShadowLog } from './shadow-policy.ts'
import { openSourceStore, Sources } from './sources.ts'
import { UserTexts } from './user-texts.ts'

/** The most bytes that one call may request if the owner sets no limit. */
const MAX_ASKED_BYTES = 10_485_760
const GRACE_MS = 1_000

/** Commands start processes, which are scarcer than calls, so they have a limit of their own. */
const CONCURRENT_COMMANDS = { 'core/exec.run': 8 }

/** The lists that a hub is given: it knows no built-in tool and no feature itself. */
export interface HubLists {
  readonly builtins: readonly AnyTool[]
  readonly features: readonly FeatureDefinition[]
  /** What the features keep in the store, for a hub whose owner gives it none. */
  readonly tables: FeatureTables['features']
  /** Connects a hub with the processes on other machines that share its store. Default: a hub has its store alone. */
  readonly machines?: ConnectMachines
}

/** Creates the runtime that the owner's options describe. Nothing is written to the disk before the first call. */
export function createRuntime(
  options: HubOptions,
  { features: definitions, tables, machines: connect }: Omit<HubLists, 'builtins'>,
): HubRuntime {
  const clock = options.clock ?? systemClock
  const core = options.core && fromCoreToolsConfig(options.core)
  const limits: Limits = { ...core?.limits, ...options.limits }
  const data = resolve(options.data ?? '.tool-hub')
  assertOwnDataFolder(data)
  const sandboxOptions = mergeSandbox(core?.sandbox, options.sandbox)
  assertHostsAndRanges(sandboxOptions, options.secrets)
  if (options.database && !options.store)
    throw new ToolError('CONFIG_INVALID', 'The options name a database, but no store was opened on it.', {
      hint: 'Open it first: createToolHub({ ...options, store: openStoreOf(options) }).',
    })
  const store = options.store ?? createInProcessStore({ features: tables })
  assertRecorded(options)
  const underWay: HubRuntime['calls']['underWay'] = new Set()
  const sourceStore = openSourceStore(store, { data, features: tables })
  const runsFolder = options.runs === false ? false : resolve(options.runs ?? 'runs')
  const { records } = options
  const machines = machinesOf(store, connect?.({ store, clock, runsFolder, records, running: () => underWay.size }))
  const { process: ownProcess } = machines.ownership
  const durability = durabilityOf(options, machines)
  const processes = new BackgroundProcesses(join(data, 'processes'))
  const secrets = new Map(Object.entries(options.secrets ?? {}))
  const runSandboxOptions: RunSandboxOptions = {
    sandbox: sandboxOptions,
    readBytes: sizeLimit(limits.readBytes, core?.usual.readBytes, DEFAULT_LIMITS.readBytes),
    httpBytes: sizeLimit(limits.httpBytes, core?.usual.httpBytes, DEFAULT_LIMITS.httpBytes),
    httpTimeoutMs: limits.httpTimeoutMs ?? DEFAULT_LIMITS.httpTimeoutMs,
    downloadBytes: limits.downloadBytes ?? DEFAULT_LIMITS.downloadBytes,
    commands: limits.commands ?? {},
    secrets,
    clock,
    draftsFolder: join(data, 'drafts'),
    runsFolder,
    userAgent: core?.userAgent ?? `tool-hub/${VERSION}`,
    hidden: runsFolder === false ? [data] : [runsFolder, data],
    protect: () => protectedCode({ ...options, sandbox: sandboxOptions }, definitions),
    ledgerFolder: ledgerFolderOf(data),
    lost: () => processes.lost(),
  }
  const sandbox = new RunSandbox(runSandboxOptions)
  const rules = new PolicyHistory(policyLayers({ ...options, sandbox: sandboxOptions }), options.shadowPolicy)
  const visibility = options.visibility ?? {}
  const registry = new Registry()
  const arrangedFor = arrangeFor(arrangementsOf(definitions, options))
  const redactor = createRedactor(secretsOf(options))
  const redact = (text: string) => redactor.text(text)
  const runs = new Runs({
    ...{ folder: runsFolder, durability, clock, sandbox, heads: options.store?.heads, redact, machines },
  })
  const network = () => sandbox.webFetchGuard()
  const machine = () => sandbox.programMachine()
  const untrusted = new UntrustedFiles(join(data, 'untrusted-files.jsonl'))
  const waiting = {
    store,
    clock,
    waitsInStore: options.approvals?.inbox === true,
    outlives: options.store !== undefined,
    process: ownProcess,
  }
  const metrics = new Metrics()
  const features: Features = new Features(definitions, options, () => createFeatureHost(runtime))
  const runtime: HubRuntime = {
    identity: {
      principal: undefined,
      rights: undefined,
      principalNow: (known) => principalNow(known, options),
      run: options.run ?? newRunId(clock),
      caller: options.caller ?? 'library',
      runOwner: undefined,
    },

    registry,
    catalog: new ToolCatalog(registry, compileVisibility(visibility), {
      dialect: dialectOf(visibility),
      ...arrangedFor(visibility),
    }),
    arrangedFor,
    visibility,
    sources: new Sources({ registry, redactor, secrets, data, store: sourceStore, clock, runs, network, machine }),
    plugins: new PluginSetups(),
    hooks: new HookChain(clock),
    features,

    rules,
    doubts: new RuleDoubts(() => runtime, { isStrict: options.strict === true }),
    policy: rules.policy,
    shadowPolicy: rules.shadow,
    shadow: new ShadowLog({ clock, metrics, redactor }),
    people: {
      approvals: new CallApprovals({
        responder: options.approve,
        timeoutMs: options.approvals?.timeoutMs ?? DEFAULT_LIMITS.approvalMs,
        ...waiting,
      }),
      questions: new ToolQuestions(waiting),
      onQuestion: options.onQuestion ?? options.onClarificationRequest,
      grants: new Grants({ store: store.grants, clock }),
      userTexts: new UserTexts({ store: store.userTexts, redactor, clock }),
    },
    earlierSessions: new EarlierSessions({
      ...{ documents: sourceStore.documents, clock, root: sandboxOptions.root },
      isOneOfMany: ownProcess !== undefined,
      taintedBy: (run) => runs.taintedBy(run),
    }),
    limits: createLimiters(limits, store, clock, ownProcess),
    settings: {
      timeoutMs: limits.timeoutMs ?? DEFAULT_LIMITS.timeoutMs,
      graceMs: GRACE_MS,
      outputChars: limits.outputChars,
      inputBytes: limits.inputBytes ?? DEFAULT_LIMITS.inputBytes,
      inputDepth: limits.inputDepth ?? DEFAULT_LIMITS.inputDepth,
      inputEntries: limits.inputEntries ?? DEFAULT_LIMITS.inputEntries,
      isSandboxRequired: sandboxOptions.required !== false,
      isolatesRequests: sandboxOptions.workspaces !== undefined && sandboxOptions.root === undefined,
      durability,
      outputs: outputsOf(options),
      undoBytes: limits.undoBytes ?? DEFAULT_LIMITS.undoBytes,
    },

    runs,
    machines,
    runsFolder,
    sandbox,
    sandboxOptions,
    sandboxFor: rememberSandboxes(
      (roots) => new RunSandbox({ ...runSandboxOptions, sandbox: { ...sandboxOptions, ...asFolders(roots) } }),
    ),
    commands: {
      ready: once(async () => {
        await Promise.all([sandbox.loadProcessGuard(), reportLost(processes), recoverCommands(data)])
      }),
      secondParser: loadSecondParser,
      processes,
      taint: new CommandTaint(untrusted),
      hiddenValues: new HiddenValues(redactor),
    },
    untrusted,

    store,
    clock,
    redactor,
    metrics,
    calls: { underWay, lastEnded: {}, listeners: new Set(), nextId: callIds(), callNested },
  }
  stopLostCalls(runtime)
  return runtime
}

/** Stops calls whose run was taken by another process, and those with side effects while others may take their run. */
function stopLostCalls({ machines, calls: { underWay }, runs }: HubRuntime): void {
  machines.ownership.onLost(({ run, error }) => {
    if (run === undefined) {
      for (const call of underWay)
        if (call.wasExecuted && call.found?.tool.hasEffects) call.abort(stoppedBy(call, error))
      return
    }
    const calls = [...underWay].filter((call) => call.run === run)
    for (const call of calls) call.abort(stoppedBy(call, error))
    runs.abandon(run, Promise.all(calls.map((call) => call.whenEnded())))
  })
}

/** Throws for records that should be shared and are switched off. */
function assertRecorded({ durability, runs }: HubOptions): void {
  if (durability !== 'shared' || runs !== false) return
  throw new ToolError('CONFIG_INVALID', 'durability: shared needs records, and runs is false.', {
    fix: { key: 'runs', hint: 'Set runs to a folder, or leave durability out.' },
  })
}

/** Throws for records that should be shared and cannot be. */
function durabilityOf({ durability, records }: HubOptions, machines: Machines): Durability {
  const wanted = durability === 'shared' ? 'durability: shared' : records?.bucket && 'records.bucket'
  if (wanted && machines.ownership.process === undefined)
    throw new ToolError('CONFIG_INVALID', `${wanted} needs a store that many machines share.`, {
      fix: { key: 'store', hint: 'Set store to a PostgreSQL URL, or leave the key out.' },
    })
  return durability ?? (machines.records.hasOthers ? 'shared' : 'effects')
}

/** Reports an invalid host or range when the hub is created, and not by its first request. */
function assertHostsAndRanges(
  { network = [], privateRanges = [], blockedRanges }: Sandbox,
  secrets: HubOptions['secrets'] = {},
): void {
  parseRanges(privateRanges, blockedRanges)
  for (const hosts of [network, ...Object.values(secrets).map(({ hosts }) => hosts)]) parseHosts(hosts)
}

/** Throws for a store that others use, too, if the hub was created without what it needs for that. */
function machinesOf({ location }: Store, connected: Machines | undefined): Machines {
  if (connected) return connected
  if (location !== 'network') return ONE_MACHINE
  throw new ToolError('CONFIG_INVALID', 'This hub cannot share a store with other machines.', {
    fix: { key: 'store', hint: 'Create the hub with createToolHub.' },
  })
}

/** Throws for a value that is not one of the three, since a typo must not record more than the owner wants. */
function outputsOf({ records }: HubOptions): RecordedOutputs {
  const outputs = records?.outputs ?? 'failed'
  if (RECORDED_OUTPUTS.includes(outputs)) return outputs
  throw new ToolError('CONFIG_INVALID', `records.outputs is ${JSON.stringify(outputs)}.`, {
    fix: { key: 'records.outputs', hint: `Use one of ${RECORDED_OUTPUTS.join(', ')}.` },
  })
}

/** Creates the counters and gates of calls. */
export function createLimiters(limits: Limits, store: Store, clock: Clock, process?: string): Limiters {
  return {
    budget: new BudgetLedger(limits, store.budgets, clock),
    rate: new RateLimiter({ all: limits.rate, tools: perTool(limits, 'rate') }, store.rates, clock),
    concurrency: new Concurrency({
      all: limits.concurrency,
      tools: { ...CONCURRENT_COMMANDS, ...perTool(limits, 'concurrency') },
    }),
    breakers: new Breakers({}, clock),
    loops: new LoopDetector(),
    idempotency: new Idempotency(store.keys, clock, { process }),
  }
}

/** Returns the same sandbox for the same folders. It stays open until the hub closes; all sessions of a principal share it. */
function rememberSandboxes(open: HubRuntime['sandboxFor']): HubRuntime['sandboxFor'] {
  const known = new Map<string, RunSandbox>()
  return (roots) => {
    const key = JSON.stringify(roots)
    const sandbox = known.get(key) ?? open(roots)
    known.set(key, sandbox)
    return sandbox
  }
}

/** Relative paths start at the first folder if it is writable, and otherwise at the workspace of the run. */
function asFolders(roots: NonNullable<Sandbox['roots']>): Pick<Sandbox, 'root' | 'roots'> {
  const [first, ...others] = roots
  return first?.mode === 'write' ? { root: first.path, roots: others } : { root: undefined, roots }
}

/** Background commands end with their hub. If a hub was killed, the next one warns once about each command that was lost. */
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

/** The owner's limit is the most that a call may request, and its default unless the owner names a smaller one. */
function sizeLimit(limit: number | undefined, named: number | undefined, standard: number): SizeLimit {
  const usual = named ?? limit ?? standard
  const most = limit ?? Math.max(usual, MAX_ASKED_BYTES)
  return { usual: Math.min(usual, most), most }
}

/** Returns the current rights of a principal, or `undefined` if it, or a principal that contains it, no longer exists. */
async function principalNow(known: Principal, { principals }: HubOptions): Promise<Principal | undefined> {
  if (!known.within) return principals ? principals(known) : known
  const within = await principalNow(known.within, { principals })
  return within && { ...known, within }
}
