import type { z } from 'zod'
import type {
  BrowserOptions,
  BudgetLimits,
  CanvasOptions,
  ChannelOptions,
  CommandLimits,
  HttpMemory,
  HubOptions,
  Limits,
  McpMemory,
  McpMemoryTool,
  MemoryLimits,
  MemoryOptions,
  MessagesOptions,
  NewSchedule,
  Rate,
  Sandbox,
  SchedulesOptions,
  Secret,
  WrittenWhen,
} from '../core/index.ts'
import type { browserSchema } from './browser-schema.ts'
import type { canvasSchema } from './canvas-schema.ts'
import type { CheckedConfig } from './check-config.ts'
import { toCore } from './core-schema.ts'
import type { WrittenMemory } from './memory-schema.ts'
import type { WrittenMessages } from './messages-schema.ts'
import { resolvePath } from './resolve-path.ts'
import type { WrittenSchedules } from './schedules-schema.ts'
import { toMcpServers } from './to-mcp-servers.ts'
import { toSessions } from './to-sessions.ts'
import { parseDuration, parseRate, parseSize } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

/** The folders that relative paths and the default record folders are in. */
export interface Folders {
  /** Of the config file: what is written in it is relative to this. */
  readonly base: string
  /** The folder of the project. Default place of the records. */
  readonly home: string
}

type WrittenLimits = NonNullable<CheckedConfig['limits']>
type WrittenBudget = NonNullable<WrittenLimits['session']>
type WrittenToolLimits = NonNullable<WrittenLimits['tools']>[string]
type WrittenRate = NonNullable<WrittenLimits['rate']>

/** What a config says, in the words of `createToolHub`; rules and plugins are read elsewhere. */
export function toOptions(config: CheckedConfig, { base, home }: Folders): HubOptions {
  const { sandbox, limits, approvals, redact, runs, data } = config
  const core = config.core && toCore(config.core, base)
  return withoutUndefined<HubOptions>({
    visibility: config.visibility,
    sandbox: merged(core?.sandbox, sandbox && toSandbox(sandbox, base)),
    core: core && Object.keys(core.core).length > 0 ? core.core : undefined,
    secrets: maybe(toSecrets, config.secrets),
    mcpServers: maybe((servers) => toMcpServers(servers, { base, home }), config.mcpServers),
    skills: config.skills?.map((folder) => (folder.startsWith('~/') ? folder : resolvePath(base, folder))),
    sessions: maybe((sessions) => toSessions(sessions, base), config.sessions),
    web: config.web && withoutUndefined({ search: config.web.search && withoutUndefined(config.web.search) }),
    memory: maybe(toMemory, config.memory),
    messages: maybe(toMessages, config.messages),
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
    browser: maybe((written) => toBrowser(written, base), config.browser),
    canvas: maybe(toCanvas, config.canvas),
    schedules: maybe(toSchedules, config.schedules),
    durability: config.durability,
    caller: config.caller,
    redact: redact && withoutUndefined({ keys: redact.keys, values: maybe(secretsOf, redact.env) }),
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

/** A variable that is not set is no secret; using its name is an error. */
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

/** What a config says about canvases, in the words of `createToolHub`. */
function toCanvas({ content, perRun, versions }: z.output<typeof canvasSchema>): CanvasOptions {
  return withoutUndefined<CanvasOptions>({
    maxBytes: content === undefined ? undefined : parseSize(content),
    maxCanvases: perRun,
    maxVersions: versions,
  })
}

/** What a config says about the browser, in the words of `createToolHub`. */
function toBrowser(written: z.output<typeof browserSchema>, base: string): BrowserOptions {
  const { executable, channel, headless, sandbox, idle, timeout, tabs, traffic, download, pageMemory } = written
  return withoutUndefined<BrowserOptions>({
    ...{ channel, headless, sandbox, tabs },
    executable: executable === undefined ? undefined : resolvePath(base, executable),
    idleMs: idle === undefined ? undefined : parseDuration(idle),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    trafficBytes: traffic === undefined ? undefined : parseSize(traffic),
    downloadBytes: download === undefined ? undefined : parseSize(download),
    pageMemoryBytes: pageMemory === undefined ? undefined : parseSize(pageMemory),
  })
}

type WrittenChannel = NonNullable<WrittenMessages['channels']>[string]

/** What `messages` says, in the words of `createToolHub`; references are filled in when a channel is used. */
export function toMessages({ channels = {} }: WrittenMessages): MessagesOptions {
  return { channels: Object.fromEntries(Object.entries(channels).map(([name, written]) => [name, toChannel(written)])) }
}

function toChannel({ rate, timeout, ...rest }: WrittenChannel): ChannelOptions {
  return withoutUndefined({
    ...rest,
    ...('chats' in rest && { chats: rest.chats.map(String) }),
    rate: typeof rate === 'string' ? parseRate(rate) : rate,
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
  }) as ChannelOptions
}

type WrittenEntry = NonNullable<WrittenSchedules['entries']>[string]

/** What `schedules` says, in the words of `createToolHub`. A section without entries says that there are none. */
export function toSchedules({ entries = {}, shortest, ...rest }: WrittenSchedules): SchedulesOptions {
  return withoutUndefined<SchedulesOptions>({
    ...rest,
    shortestMs: shortest === undefined ? undefined : parseDuration(shortest),
    entries: Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, toEntry(entry)])),
  })
}

function toEntry(entry: WrittenEntry): Omit<NewSchedule, 'name'> {
  const { cron, every, at, calls, jitter, timeout, ...rest } = entry
  return withoutUndefined<Omit<NewSchedule, 'name'>>({
    ...rest,
    when: toWhen({ cron, every, at }),
    calls: calls.map((call) => withoutUndefined(call)),
    jitterMs: jitter === undefined ? undefined : parseDuration(jitter),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
  })
}

/** The schema has seen to it that one of them is there. */
function toWhen({ cron, every, at }: Pick<WrittenEntry, 'cron' | 'every' | 'at'>): WrittenWhen {
  if (cron !== undefined) return { cron }
  return every === undefined ? { at: at! } : { everyMs: parseDuration(every) }
}

type WrittenMcp = NonNullable<WrittenMemory['mcp']>

/** What `memory` says, in the words of `createToolHub`. */
function toMemory(memory: WrittenMemory): MemoryOptions {
  const { enabled, write_mode: writeMode, url, secret, headers, mcp, limits } = memory
  const http = url === undefined ? undefined : withoutUndefined<HttpMemory>({ url, secret, headers })
  return withoutUndefined<MemoryOptions>({
    enabled,
    writeMode,
    provider: http ?? (mcp && toMcp(mcp)),
    limits:
      limits &&
      withoutUndefined<MemoryLimits>({
        noteChars: limits.note === undefined ? undefined : parseSize(limits.note),
        notesPerScope: limits.notes,
        candidatesPerRun: limits.candidates,
        timeoutMs: limits.timeout === undefined ? undefined : parseDuration(limits.timeout),
      }),
  })
}

function toMcp({ server, recall, write, update, forget }: WrittenMcp): McpMemory {
  const tools = { write: toTool(write), update: toTool(update), forget: toTool(forget) }
  return { mcp: withoutUndefined({ server, recall: toTool(recall)!, ...tools }) }
}

function toTool(tool: WrittenMcp['write']): string | McpMemoryTool | undefined {
  return typeof tool === 'object' ? withoutUndefined<McpMemoryTool>(tool) : tool
}
