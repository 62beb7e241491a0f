import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { LoadedConfig } from '@tool-hub/config'
import {
  type AnyTool,
  arrangementsOf,
  didYouMean,
  type HubOptions,
  type Store,
  systemClock,
  type ToolCard,
  ToolError,
  toWireName,
} from '@tool-hub/core'
import { errnoOf, escapeLine, escapeText, once } from '@tool-hub/core/lib'
import { catalogue, schemasOf } from '@tool-hub/library/builtin-tools'
import { features } from '@tool-hub/library/generated/list'
import { compilePins, compileVisibility, dialectOf } from '@tool-hub/policy'
import type { Hub } from '@tool-hub/runtime/hub'
import type { CatalogueEntry } from '@tool-hub/runtime/tools'
import type { RuleHolder } from '@tool-hub/server'
import type { ServedHub } from '@tool-hub/server/mcp'
import { interruptSignal, UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { ignoreByGit, ignoreFromNowOn, sayPrivate, withCurrentRoot } from '../hub/folders.ts'
import { hasMoreTools, watchServers } from '../hub/sources.ts'
import { assertFolder } from '../input/options.ts'
import { callerName } from '../invocation.ts'
import { say } from '../output/print.ts'

/** Until the list is out. */
const A_MOMENT_MS = 10

/** The options of `tool-hub mcp`. */
export interface ServeFlags {
  /** False reads none, and nothing else from the folder it is started in. */
  readonly config?: string | false
  readonly root?: string
  readonly dialect?: string
  readonly http?: string | true
  readonly host?: string
  readonly tokenEnv?: string
  readonly elicitation?: boolean
  readonly watch?: boolean
}

/** Those of the built-in tools. */
const DIALECTS = ['coding', 'files']

/** `mcp`: serves the tools until the client goes, or until it is interrupted. */
export async function serve(flags: ServeFlags): Promise<void> {
  if (flags.http === undefined && (flags.host !== undefined || flags.tokenEnv !== undefined))
    throw new UsageError('--host and --token-env are for --http.', 'Add --http, or leave them out.')
  if (flags.root !== undefined) assertFolder('--root', flags.root)
  const { file, options: read } = await readOptions(flags)
  const options = withCurrentRoot(optionsOf(read, flags))
  sayPrivate(options)
  const served = { ...flags, elicitation: mayAskClients(options, flags) }
  const isBuiltIn = !(await hasMoreTools(options))
  if (isBuiltIn) assertDialect(flags.dialect, DIALECTS)
  if (flags.http === undefined && isBuiltIn) return serveDeferred(options, served, file)
  const { withHubOf } = await import('../hub/with-hub.ts')
  const { options: watched, warnAboutBroken } = await watchServers(options)
  await withHubOf(watched, async (hub) => {
    assertDialect(flags.dialect, dialectsOf(hub))
    ignoreFromNowOn(hub, watched)
    // That the hub cannot get ready was reported before.
    void hub.ready({ all: true }).then(warnAboutBroken, () => {})
    const stopFollowing = await followConfig(hub, file)
    try {
      await (flags.http === undefined ? serveStdio(hub, served) : serveHttp(hub, served))
    } finally {
      await stopFollowing()
    }
  })
}

/** With an explicit config the process may be started in any folder, so nothing is read from that folder. */
async function readOptions({ config, root, watch }: ServeFlags): Promise<Pick<LoadedConfig, 'file' | 'options'>> {
  if (config === false) {
    const data = join(homedir(), '.tool-hub')
    return { file: undefined, options: { data, runs: join(data, 'runs') } }
  }
  const home = config !== undefined && isAbsolute(config) ? { home: dirname(config) } : {}
  return readCliConfig({ config, root, watch, ...home })
}

/**
 * Applies the rules of a config whenever the file is edited, while a hub of this process runs. An edit that is refused, or
 * that needs a restart, is reported on standard error. Returns a function that stops it.
 */
async function followConfig(hub: RuleHolder, file: string | undefined): Promise<() => Promise<void>> {
  if (file === undefined) return async () => {}
  const { adoptRules, ConfigReload, refusedMessage, restartMessage } = await import('@tool-hub/server')
  const reload = new ConfigReload({
    file,
    clock: systemClock,
    apply: (found) => adoptRules(hub, found, reload.state.file),
    onChange: (state) => {
      if (state.problem !== undefined) say(`warning: ${escapeText(refusedMessage(state))}`)
      else if (state.restart.length > 0) say(`warning: ${escapeText(restartMessage(state))}`)
    },
  })
  await reload.start()
  return () => reload.close()
}

/** A form that any client can answer is not an approval; with an inbox, the person answers there. */
export function mayAskClients({ approvals = {} }: HubOptions, flags: ServeFlags): boolean {
  if (flags.elicitation === false) return false
  const isOpen = flags.http !== undefined && flags.tokenEnv === undefined
  return approvals.elicitation ?? !(approvals.inbox || isOpen)
}

function dialectsOf(hub: Hub): string[] {
  return [...new Set(hub.registry.list().flatMap(({ dialects = {} }) => Object.keys(dialects)))].sort()
}

function assertDialect(dialect: string | undefined, known: readonly string[]): void {
  if (dialect === undefined || known.includes(dialect)) return
  throw new UsageError(
    `Unknown dialect ${JSON.stringify(dialect)}.`,
    [didYouMean(dialect, known), `There are: ${known.join(', ')}.`].join(' ').trim(),
  )
}

/** The list is there immediately; the hub is made when it is out, or when the first call comes, and must then be right. */
async function serveDeferred(options: HubOptions, flags: ServeFlags, file: string | undefined): Promise<void> {
  let store: Store | undefined
  let stopFollowing = async () => {}
  const hub = deferHub(options, async () => {
    const [{ createToolHub }, { openDataStore }] = await Promise.all([
      import('@tool-hub/library/create-tool-hub'),
      import('../hub/data-store.ts'),
    ])
    store = openDataStore(options)
    // A database that cannot be used is reported before anything is executed.
    if (options.database) await store.check()
    const made: Hub = createToolHub<readonly AnyTool[]>({ ...options, store })
    ignoreFromNowOn(made, options)
    stopFollowing = await followConfig(made, file)
    return made
  })
  const stop = new AbortController()
  const loadSoon = () => setTimeout(() => void hub.load().catch((error) => stop.abort(error)), A_MOMENT_MS)
  const listing = {
    ...hub,
    cards: (...asked: Parameters<ServedHub['cards']>) => {
      loadSoon()
      return hub.cards(...asked)
    },
  }
  try {
    await serveStdio(listing, flags, stop.signal)
    stop.signal.throwIfAborted()
  } finally {
    await stopFollowing()
    await hub.close()
    await store?.close()
    ignoreByGit(options)
  }
}

function optionsOf(options: HubOptions, { root }: ServeFlags): HubOptions {
  return {
    ...options,
    caller: options.caller ?? callerName(),
    ...(root !== undefined && { sandbox: { ...options.sandbox, root: resolve(root) } }),
  }
}

async function serveStdio(hub: ServedHub, { dialect, elicitation }: ServeFlags, stop?: AbortSignal): Promise<void> {
  const { serveMcpStdio } = await import('@tool-hub/server/mcp')
  const server = await serveMcpStdio(hub, { dialect, elicitation, onError: sayMcpError })
  for (const signal of [interruptSignal(), stop]) signal?.addEventListener('abort', () => void server.close())
  if (process.stdin.isTTY)
    say('Waiting for an MCP client on standard input. To put tool-hub into one: tool-hub mcp install.')
  await server.closed
}

async function serveHttp(hub: Hub, flags: ServeFlags): Promise<void> {
  const { dialect, elicitation, http, host, tokenEnv } = flags
  const { serveMcp } = await import('@tool-hub/server/mcp')
  const token = tokenEnv === undefined ? undefined : tokenOf(tokenEnv)
  const server = await serveMcp(hub, {
    dialect,
    elicitation,
    port: http === true ? 0 : portOf(String(http)),
    ...(host !== undefined && { host }),
    ...(token !== undefined && { auth: { token } }),
    onError: sayMcpError,
  }).catch((error) => {
    throw inWords(error, flags)
  })
  say(`Serving MCP at ${server.url}. Ctrl-C ends it.`)
  const signal = interruptSignal()
  await new Promise<void>((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
  await server.close()
}

/** Why it cannot listen, in the words of the command line. */
function inWords(error: unknown, { http, host, tokenEnv }: ServeFlags): unknown {
  if (!ToolError.is(error) || error.code !== 'CONFIG_INVALID') return error
  const errno = errnoOf(error.cause)
  if (errno === 'EADDRINUSE')
    return new UsageError(`Port ${http} is taken.`, 'Give another one, or --http alone for any that is free.')
  if (errno === 'EACCES')
    return new UsageError(`Port ${http} is not yours to open.`, 'Give one from 1024 up, or --http alone.')
  if (error.cause === undefined && host !== undefined && tokenEnv === undefined)
    return new UsageError(error.message, 'Leave --host out, or say who may call: --token-env NAME.')
  return error
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(
    `--http takes a port, not ${JSON.stringify(text)}.`,
    'Give a number from 0 to 65535, or nothing.',
  )
}

function tokenOf(name: string): string {
  const token = process.env[name]
  if (token && token.length >= 16) return token
  const what = token ? `has ${token.length} characters, at least 16 are needed` : 'is not set'
  throw new UsageError(`The variable ${name} ${what}.`, `Set it: export ${name}=$(openssl rand -hex 32)`)
}

function sayMcpError(error: Error): void {
  say(escapeLine(`mcp: ${error.message}`))
}

/** A hub that is created when it is first needed; its tools are known before. */
interface DeferredHub extends ServedHub {
  /** Creates the hub, once. */
  load(): Promise<Hub>
  /** Closes the hub if it was created. */
  close(): Promise<void>
}

/**
 * Stands for a hub that has only the built-in tools. A client that starts tool-hub wants the list immediately, and loading what
 * a call needs takes longer than everything that the list needs.
 */
export function deferHub(options: HubOptions, make: () => Promise<Hub>): DeferredHub {
  let making: Promise<Hub> | undefined
  let made: Hub | undefined
  const listeners = new Set<() => void>()
  const makeOnce = once(async () => {
    const hub = await make()
    made = hub
    hub.onToolsChanged(() => {
      for (const listener of listeners) listener()
    })
    return hub
  })
  const load = () => {
    making = makeOnce()
    return making
  }
  return {
    load,
    cards: (asked) => made?.cards(asked) ?? cardsOf(options, asked),
    onToolsChanged(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    ready: async (asked) => made?.ready(asked),
    callDynamic: async (...call) => (made ?? (await load())).callDynamic(...call),
    artifact: async (...asked) => (await load()).artifact(...asked),
    endRun: async (run) => made?.endRun(run),
    // It may be in the making although nobody waits for it any more.
    close: async () => (await making?.catch(() => undefined))?.close(),
  }
}

type CardQuery = NonNullable<Parameters<Hub['cards']>[0]>

function cardsOf(options: HubOptions, { dialect: asked, all = false }: CardQuery = {}): ReturnType<Hub['cards']> {
  const { visibility = {} } = options
  const dialect = asked ?? dialectOf(visibility)
  const sees = compileVisibility(visibility)
  const entries = new Map(catalogue.map(({ tool, names, group }) => [tool.name, { name: tool.name, names, group }]))
  const visible = catalogue.filter(({ tool }) => sees(entries.get(tool.name)!).visible)
  const arranged = arrangementsOf(features, options).reduce<readonly ToolCard[]>(
    (cards, { pin, arrange }) => {
      const isPinned = compilePins(visibility, pin)
      return arrange(cards, (tool) => isPinned(entries.get(tool)!))
    },
    visible.map((entry) => toCard(entry, dialect)),
  )
  return all ? arranged : arranged.filter(({ shown }) => shown !== 'never')
}

/** The same as a hub shows, which would have to be created for it. */
function toCard({ tool, dialects }: CatalogueEntry, kind = ''): ToolCard {
  const { name, title, description, capabilities, tags = [] } = tool
  const { input, output, dialects: own } = schemasOf(name)
  const dialect = Object.hasOwn(dialects, kind) ? dialects[kind]!.fields : undefined
  return {
    name: dialect?.name ?? toWireName(name),
    description: dialect?.description ?? description,
    parameters: (dialect && own[kind]) ?? input,
    tool: name,
    ...(title !== undefined && { title }),
    capabilities,
    output,
    ...(tags.length > 0 && { tags }),
  }
}
