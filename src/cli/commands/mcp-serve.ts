import { resolve } from 'node:path'
import type { Hub } from '../../hub.ts'
import type { HubOptions } from '../../options.ts'
import type { ServedHub } from '../../serve/mcp/options.ts'
import { callerName } from '../hub/caller-name.ts'
import { deferHub } from '../hub/deferred-hub.ts'
import { hasMoreTools } from '../hub/has-more-tools.ts'
import { readConfig } from '../hub/read-config.ts'
import { interruptSignal } from '../interrupt.ts'
import { say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'

/** Until the list is out. */
const A_MOMENT_MS = 10

/** What `tool-hub mcp` may be told. */
export interface ServeFlags {
  readonly config?: string
  readonly root?: string
  readonly dialect?: string
  readonly http?: string | true
  readonly host?: string
  readonly tokenEnv?: string
  readonly watch?: boolean
}

/** `mcp`: serves the tools until the client goes, or until it is interrupted. */
export async function serve(flags: ServeFlags): Promise<void> {
  if (flags.http === undefined && (flags.host !== undefined || flags.tokenEnv !== undefined))
    throw new UsageError('--host and --token-env are for --http.', 'Add --http, or leave them out.')
  const { options: written } = await readConfig(flags)
  const options = optionsOf(written, flags)
  if (flags.http === undefined && !hasMoreTools(options)) return serveDeferred(options, flags)
  const { withHubOf } = await import('../hub/with-hub.ts')
  await withHubOf(options, (hub) => (flags.http === undefined ? serveStdio(hub, flags) : serveHttp(hub, flags)))
}

/** The list is there at once; the hub is made when it is out, or when the first call comes, and must then be right. */
async function serveDeferred(options: HubOptions, flags: ServeFlags): Promise<void> {
  const hub = deferHub(options, async () => {
    const { createToolHub } = await import('../../create-tool-hub.ts')
    return createToolHub(options) as unknown as Hub
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
    await hub.close()
  }
}

function optionsOf(options: HubOptions, { root }: ServeFlags): HubOptions {
  return {
    ...options,
    caller: options.caller ?? callerName(),
    ...(root !== undefined && { sandbox: { ...options.sandbox, root: resolve(root) } }),
  }
}

async function serveStdio(hub: ServedHub, { dialect }: ServeFlags, stop?: AbortSignal): Promise<void> {
  const { serveMcpStdio } = await import('../../serve/mcp/serve-mcp-stdio.ts')
  const server = await serveMcpStdio(hub, { dialect, onError: tellError })
  for (const signal of [interruptSignal(), stop]) signal?.addEventListener('abort', () => void server.close())
  if (process.stdin.isTTY)
    say('Waiting for an MCP client on standard input. To put tool-hub into one: tool-hub mcp install.')
  await server.closed
}

async function serveHttp(hub: Hub, { dialect, http, host, tokenEnv }: ServeFlags): Promise<void> {
  const { serveMcp } = await import('../../serve/mcp/serve-mcp.ts')
  const token = tokenEnv === undefined ? undefined : tokenOf(tokenEnv)
  const server = await serveMcp(hub, {
    dialect,
    port: http === true ? 0 : portOf(String(http)),
    ...(host !== undefined && { host }),
    ...(token !== undefined && { auth: { token } }),
    onError: tellError,
  })
  say(`Serving MCP at ${server.url}. Ctrl-C ends it.`)
  const signal = interruptSignal()
  await new Promise<void>((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
  await server.close()
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

function tellError(error: Error): void {
  say(`mcp: ${error.message}`)
}
