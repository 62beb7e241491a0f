import { join, resolve } from 'node:path'
import { CallApprovals, Grants, ToolQuestions } from '../approvals/index.ts'
import {
  type Clock,
  DEFAULT_LIMITS,
  type Durability,
  type HubOptions,
  type Limits,
  type Principal,
  type Sandbox,
  type Store,
  systemClock,
  ToolError,
} from '../core/index.ts'
import { escapeLine, once, VERSION } from '../lib/index.ts'
import { Breakers, BudgetLedger, Concurrency, Idempotency, LoopDetector, RateLimiter } from '../limits/index.ts'
import { compileVisibility, dialectOf } from '../policy/index.ts'
import { createRedactor } from '../records/redaction/index.ts'
import { bucketAddress } from '../records/shipping/index.ts'
import { Metrics } from '../records/telemetry/index.ts'
import { parseRanges } from '../sandbox/network/index.ts'
import { BackgroundProcesses, createMemoryStore, UntrustedFiles } from '../store/index.ts'
import { assertOwnDataFolder } from '../system/index.ts'
import { ClusterMember } from './cluster.ts'
import { createFeatureHost, Features, toolArrangements } from './features.ts'
import { fromCoreToolsConfig, secretsOf } from './hub-options.ts'
import { PolicyHistory, policyLayers } from './hub-policy.ts'
import { remoteCalls, shareRecords, stopCalls } from './membership.ts'
import { callIds } from './pipeline/call.ts'
import { CommandTaint } from './pipeline/exec-handle.ts'
import { HookChain } from './pipeline/hooks.ts'
import { Registry } from './pipeline/registry.ts'
import { arrangeFor, ToolCatalog } from './pipeline/tool-catalog.ts'
import { PluginSetups } from './plugin-setups.ts'
import { protectedCode } from './protected-code.ts'
import { RunSandbox, type RunSandboxOptions, type SizeLimit } from './run-sandbox.ts'
import { newRunId, Runs } from './runs.ts'
import type { HubRuntime, Limiters } from './runtime.ts'
import { ledgerFolderOf, loadSecondParser, recoverCommands } from './second-parser.ts'
import { ShadowLog } from './shadow-policy.ts'
import { Sources } from './sources.ts'
import { UserTexts } from './user-texts.ts'

/** The most bytes that one call may request if the owner sets no limit. */
const MAX_ASKED_BYTES = 10_485_760
const GRACE_MS = 1_000

/** Commands start processes, which are scarcer than calls, so they have a limit of their own. */
const CONCURRENT_COMMANDS = { 'core/exec.run': 8 }

/** Creates the runtime that the owner's options describe. Nothing is written to the disk before the first call. */
export function createRuntime(options: HubOptions): HubRuntime {
  const clock = options.clock ?? systemClock
  const core = options.core && fromCoreToolsConfig(options.core)
  const limits: Limits = { ...core?.limits, ...options.limits }
  const data = resolve(options.data ?? '.tool-hub')
  assertOwnDataFolder(data)
  const sandboxOptions = { ...core?.sandbox, ...options.sandbox }
  // Throws here, so that an invalid range is reported when the hub is created and not by its first request.
  parseRanges(sandboxOptions.blockedRanges ?? [])
  if (options.database && !options.store)
    throw new ToolError('CONFIG_INVALID', 'The options name a database, but no store was opened on it.', {
      hint: 'Open it first: createToolHub({ ...options, store: openStoreOf(options) }).',
    })
  const store = options.store ?? createMemoryStore()
  const durability = durabilityOf(options, store)
  const underWay: HubRuntime['underWay'] = new Set()
  const sharedStore = store.isShared ? { documents: store.documents, slots: store.slots } : undefined
  const cluster: ClusterMember | undefined = store.isShared
    ? new ClusterMember({ store, clock, running: () => underWay.size })
    : undefined
  const runsFolder = options.runs === false ? false : resolve(options.runs ?? 'runs')
  const processes = new BackgroundProcesses(join(data, 'processes'))
  const secrets = new Map(Object.entries(options.secrets ?? {}))
  const runSandboxOptions: RunSandboxOptions = {
    sandbox: sandboxOptions,
    readBytes: sizeLimit(limits.readBytes, { usual: DEFAULT_LIMITS.readBytes, most: MAX_ASKED_BYTES }),
    httpBytes: sizeLimit(limits.httpBytes, { usual: DEFAULT_LIMITS.httpBytes, most: MAX_ASKED_BYTES }),
    httpTimeoutMs: limits.httpTimeoutMs ?? DEFAULT_LIMITS.httpTimeoutMs,
    downloadBytes: limits.downloadBytes ?? DEFAULT_LIMITS.downloadBytes,
    commands: limits.commands ?? {},
    secrets,
    clock,
    draftsFolder: join(data, 'drafts'),
    runsFolder,
    userAgent: core?.userAgent ?? `tool-hub/${VERSION}`,
    hidden: runsFolder === false ? [data] : [runsFolder, data],
    protect: () => protectedCode({ ...options, sandbox: sandboxOptions }),
    ledgerFolder: ledgerFolderOf(data),
    lost: () => processes.lost(),
  }
  const sandbox = new RunSandbox(runSandboxOptions)
  const rules = new PolicyHistory(policyLayers({ ...options, sandbox: sandboxOptions }), options.shadowPolicy)
  const visibility = options.visibility ?? {}
  const registry = new Registry()
  const arrangedFor = arrangeFor(toolArrangements(options))
  const redactor = createRedactor(secretsOf(options))
  const redact = (text: string) => redactor.text(text)
  const shared =
    cluster && runsFolder !== false
      ? shareRecords({ store, clock, bucket: options.records?.bucket, onMoved: (run) => cluster.lose(run) })
      : undefined
  const runs = new Runs({
    ...{ folder: runsFolder, durability, clock, sandbox, heads: options.store?.heads, shared: shared?.records, redact },
    cluster: cluster && { member: cluster, states: store.runStates },
  })
  const network = () => sandbox.webFetchGuard()
  const machine = () => sandbox.programMachine()
  const untrusted = new UntrustedFiles(join(data, 'untrusted-files.jsonl'))
  const waiting = {
    store,
    clock,
    waitsInStore: options.approvals?.inbox === true,
    outlives: options.store !== undefined,
    process: cluster?.id,
  }
  const metrics = new Metrics()
  const features: Features = new Features(options, () => createFeatureHost(runtime))
  const runtime: HubRuntime = {
    principal: undefined,
    rights: undefined,
    principalNow: (known) => principalNow(known, options),
    run: options.run ?? newRunId(clock),
    caller: options.caller ?? 'library',

    registry,
    catalog: new ToolCatalog(registry, compileVisibility(visibility), {
      dialect: dialectOf(visibility),
      ...arrangedFor(visibility),
    }),
    arrangedFor,
    visibility,
    sources: new Sources({ registry, redactor, secrets, data, sharedStore, clock, runs, network, machine }),
    plugins: new PluginSetups(),
    hooks: new HookChain(clock),
    features,

    rules,
    policy: rules.policy,
    shadowPolicy: rules.shadow,
    shadow: new ShadowLog({ clock, metrics, redactor }),
    approvals: new CallApprovals({
      responder: options.approve,
      timeoutMs: options.approvals?.timeoutMs ?? DEFAULT_LIMITS.approvalMs,
      ...waiting,
    }),
    questions: new ToolQuestions(waiting),
    onQuestion: options.onQuestion ?? options.onClarificationRequest,
    grants: new Grants({ store: store.grants, clock }),
    userTexts: new UserTexts({ store: store.userTexts, redactor, clock }),
    limits: createLimiters(limits, store, clock, cluster?.id),
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
      undoBytes: limits.undoBytes ?? DEFAULT_LIMITS.undoBytes,
    },

    runs,
    cluster,
    shared,
    runsFolder,
    runOwner: undefined,
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
    },
    untrusted,
    remote: cluster && remoteCalls({ store, clock, member: cluster }),

    store,
    clock,
    redactor,
    metrics,
    underWay,
    lastEnded: {},
    listeners: new Set(),
    nextCallId: callIds(),
  }
  if (cluster) stopCalls(cluster, runtime)
  return runtime
}

/** Throws for records that should be shared and cannot be. */
function durabilityOf({ durability, records, runs }: HubOptions, store: Store): Durability {
  const wanted = durability === 'shared' ? 'durability: shared' : records?.bucket && 'records.bucket'
  if (wanted && !store.isShared)
    throw new ToolError('CONFIG_INVALID', `${wanted} needs a store that many machines share.`, {
      fix: { key: 'store', hint: 'Set store to a PostgreSQL URL, or leave the key out.' },
    })
  if (durability === 'shared' && runs === false)
    throw new ToolError('CONFIG_INVALID', 'durability: shared needs records, and runs is false.', {
      fix: { key: 'runs', hint: 'Set runs to a folder, or leave durability out.' },
    })
  // Throws for what cannot be the address of a bucket.
  if (records?.bucket) bucketAddress(records.bucket.url)
  return durability ?? (store.isShared && runs !== false ? 'shared' : 'effects')
}

function createLimiters(limits: Limits, store: Store, clock: Clock, process: string | undefined): Limiters {
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

/** The owner's limit is both the default for a call and the most that the call may request. */
function sizeLimit(owner: number | undefined, usual: SizeLimit): SizeLimit {
  return owner === undefined ? usual : { usual: owner, most: owner }
}

/** Returns the current rights of a principal, or `undefined` if it, or a principal that contains it, no longer exists. */
async function principalNow(known: Principal, { principals }: HubOptions): Promise<Principal | undefined> {
  if (!known.within) return principals ? principals(known) : known
  const within = await principalNow(known.within, { principals })
  return within && { ...known, within }
}
