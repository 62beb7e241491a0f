import type {
  BudgetLimits,
  CommandLimits,
  FeatureConfig,
  FeatureOptions,
  HubOptions,
  Limits,
  Rate,
  Sandbox,
  Secret,
} from '@tool-hub/core'
import { parseDuration, parseRate, parseSize, withoutUndefined } from '@tool-hub/core/config'
import { mergeSandbox, type Retention } from '@tool-hub/runtime/hub'
import { resolvePath } from '@tool-hub/sandbox/system'
import type { CheckedConfig } from './check-config.ts'
import { toCore } from './core-schema.ts'
import { featureConfigs } from './generated/index.ts'
import { type Folders, toMcpServers } from './mcp-servers.ts'
import { plainOptions } from './schema.ts'

type WrittenLimits = NonNullable<CheckedConfig['limits']>
type WrittenBudget = NonNullable<WrittenLimits['session']>
type WrittenToolLimits = NonNullable<WrittenLimits['tools']>[string]
type WrittenRate = NonNullable<WrittenLimits['rate']>

/** What a config says, in the words of `createToolHub`; rules and plugins are read elsewhere. */
export function toOptions(config: CheckedConfig, { base, home }: Folders): HubOptions {
  const { sandbox, limits, approvals, redact, runs, data } = config
  const core = config.core && toCore(config.core, base)
  return withoutUndefined<HubOptions>({
    ...plainOptionsOf(config),
    visibility: config.visibility,
    sandbox: (core || sandbox) && mergeSandbox(core?.sandbox, sandbox && toSandbox(sandbox, base)),
    core: core && Object.keys(core.core).length > 0 ? core.core : undefined,
    secrets: maybe(toSecrets, config.secrets),
    mcpServers: maybe((servers) => toMcpServers(servers, { base, home }), config.mcpServers),
    skills: config.skills?.map((folder) => (folder.startsWith('~/') ? folder : resolvePath(base, folder))),
    web: config.web && withoutUndefined({ search: config.web.search && withoutUndefined(config.web.search) }),
    ...featureOptions(config, base),
    limits: merged(core?.limits, limits && toLimits(limits)),
    approvals:
      approvals &&
      withoutUndefined({
        timeoutMs: maybe(parseDuration, approvals.timeout),
        inbox: approvals.inbox,
        elicitation: approvals.elicitation,
      }),
    runs: runsFolder(runs, { base, home }),
    data: data === undefined ? resolvePath(home, '.tool-hub') : resolvePath(base, data),
    redact: redact && withoutUndefined({ keys: redact.keys, values: maybe(secretsOf, redact.env) }),
  })
}

/** The options that a config has as they are. */
function plainOptionsOf(config: CheckedConfig): Pick<CheckedConfig, keyof typeof plainOptions> {
  const names = Object.keys(plainOptions) as (keyof typeof plainOptions)[]
  return Object.fromEntries(names.map((name) => [name, config[name]]))
}

/** The options of features, from their sections. */
function featureOptions(config: CheckedConfig, base: string): FeatureOptions {
  const sections = new Map<string, unknown>(Object.entries(config))
  const options = Object.entries<FeatureConfig>(featureConfigs).flatMap(([name, { toOptions: convert }]) => {
    const written = sections.get(name)
    return written === undefined ? [] : [[name, convert(written, (path) => resolvePath(base, path))]]
  })
  return Object.fromEntries(options)
}

/** The retention that `runs` sets; `undefined` if it sets none. */
export function toRetention(runs: CheckedConfig['runs']): Retention | undefined {
  if (typeof runs !== 'object' || (runs.keep === undefined && runs.size === undefined)) return undefined
  return withoutUndefined<Retention>({
    keepMs: runs.keep === undefined ? undefined : parseDuration(runs.keep),
    maxBytes: runs.size === undefined ? undefined : parseSize(runs.size),
  })
}

function runsFolder(runs: CheckedConfig['runs'], { base, home }: Folders): string | false {
  const folder = typeof runs === 'object' ? runs.folder : runs
  return folder === undefined ? resolvePath(home, 'runs') : folder && resolvePath(base, folder)
}

function toSandbox(sandbox: NonNullable<CheckedConfig['sandbox']>, base: string): Sandbox {
  return withoutUndefined<Sandbox>({
    ...sandbox,
    root: maybe((root) => resolvePath(base, root), sandbox.root),
    workspaces: maybe((folder) => resolvePath(base, folder), sandbox.workspaces),
    protect: sandbox.protect?.map((path) => resolvePath(base, path)),
    roots: sandbox.roots?.map((root) => withoutUndefined({ ...root, path: resolvePath(base, root.path) })),
    commands:
      sandbox.commands &&
      withoutUndefined({
        ...sandbox.commands,
        readable: sandbox.commands.readable?.map((path) => resolvePath(base, path)),
        writable: sandbox.commands.writable?.map((path) => resolvePath(base, path)),
      }),
  })
}

/** If the variable is not set, the secret is missing, and using its name is an error. */
function toSecrets(secrets: NonNullable<CheckedConfig['secrets']>): Record<string, Secret> {
  const set = Object.entries(secrets).flatMap(([name, { env, hosts }]) => {
    const value = process.env[env]
    return value ? [[name, { value, hosts }] as const] : []
  })
  return Object.fromEntries(set)
}

function toLimits(limits: WrittenLimits): Limits {
  const { calls, time, bytes, cost } = limits
  const short = withoutUndefined({ calls, time, bytes, cost })
  const run = toBudget({ ...short, ...limits.run })
  const shortKeys = Object.keys(short) as (keyof typeof short)[]
  return withoutUndefined<Limits>({
    timeoutMs: maybe(parseDuration, limits.timeout),
    outputChars: maybe(parseSize, limits.output),
    inputBytes: maybe(parseSize, limits.input),
    inputDepth: limits.depth,
    inputEntries: limits.entries,
    readBytes: maybe(parseSize, limits.read),
    httpBytes: maybe(parseSize, limits.http),
    httpTimeoutMs: maybe(parseDuration, limits.httpTimeout),
    downloadBytes: maybe(parseSize, limits.download),
    undoBytes: maybe(parseSize, limits.undo),
    commands: maybe(toCommandLimits, limits.commands),
    run: Object.keys(run).length === 0 ? undefined : run,
    shortKeys: shortKeys.length === 0 ? undefined : shortKeys,
    session: maybe(toBudget, limits.session),
    tools:
      limits.tools &&
      Object.fromEntries(Object.entries(limits.tools).map(([name, tool]) => [name, toToolLimits(tool)])),
    rate: maybe(toRate, limits.rate),
    concurrency: limits.concurrency,
  })
}

function toCommandLimits(limits: NonNullable<WrittenLimits['commands']>): CommandLimits {
  return withoutUndefined({
    cpuMs: maybe(parseDuration, limits.cpu),
    memoryBytes: maybe(parseSize, limits.memory),
    processes: limits.processes,
    fileBytes: maybe(parseSize, limits.file),
    openFiles: limits.files,
    diskBytes: maybe(parseSize, limits.disk),
    newFiles: limits.newFiles,
    outputBytes: maybe(parseSize, limits.output),
  })
}

function toToolLimits(tool: WrittenToolLimits): NonNullable<Limits['tools']>[string] {
  return withoutUndefined({ ...toBudget(tool), rate: maybe(toRate, tool.rate), concurrency: tool.concurrency })
}

function toBudget({ calls, time, bytes, cost }: WrittenBudget): BudgetLimits {
  return withoutUndefined({ calls, wallMs: maybe(parseDuration, time), bytes: maybe(parseSize, bytes), cost })
}

function toRate(rate: WrittenRate): Rate {
  return typeof rate === 'string' ? parseRate(rate) : rate
}

function secretsOf(names: readonly string[]): string[] {
  return names.flatMap((name) => process.env[name] || [])
}

/** The second wins. */
function merged<T extends object>(first: T | undefined, second: T | undefined): T | undefined {
  return first && second ? { ...first, ...second } : (first ?? second)
}

function maybe<A, B>(convert: (value: A) => B, value: A | undefined): B | undefined {
  return value === undefined ? undefined : convert(value)
}
