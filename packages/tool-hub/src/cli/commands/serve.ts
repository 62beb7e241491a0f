import { resolve } from 'node:path'
import type { DoctorFinding, HubOptions } from '@tool-hub/core'
import { errnoOf, VERSION } from '@tool-hub/core/lib'
import { describeWarning } from '@tool-hub/policy'
import { connectionLimit } from '@tool-hub/sandbox/system'
import type { RunningService } from '@tool-hub/server'
import type { Command } from 'commander'
import { EXIT, interruptCode, interruptSignal, UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { ignoreByGit, ignoreFromNowOn } from '../hub/folders.ts'
import { assertFolder } from '../input/options.ts'
import { callerName, ownCommand } from '../invocation.ts'
import { table } from '../output/layout.ts'
import { addLogOptions, type CommandLog, type LogFlags, openLog } from '../output/log.ts'
import { print, printJsonLine, style } from '../output/print.ts'

interface Flags extends LogFlags {
  readonly config?: string
  readonly root?: string
  readonly host?: string
  readonly port?: string
  readonly json?: boolean
}

const EXAMPLES = `
One process: the web console, HTTP (/v1), WebSocket (/v1/ws) and MCP (/mcp). It prints a sign-in link that
is valid while the process runs. Edits of the rules in the config are applied when the file is saved; SIGHUP reads the config
again. Agents get tokens of their own; docs/reference/service.md shows how they call. Services whose config names the same
PostgreSQL database (store: postgres://…) are one hub; docs/guides/run-on-many-machines.md shows how to start them.

Examples:
  tool-hub serve
  tool-hub serve --port 8080 --root ./workspace
  tool-hub tokens add my-agent              a token for an agent
  tool-hub serve --json                     one line of JSON with url and token, for scripts`

/** `serve`: the service, until it is interrupted. */
export function describeServe(command: Command): void {
  addLogOptions(
    command
      .description('Run tool-hub as a service: agents call it, people watch and approve in a web page.')
      .option('--config <file>', 'Config file. Default: the nearest tool-hub.yaml, here or above')
      .option('--root <folder>', 'Folder that tools read and write, instead of sandbox.root')
      .option('--host <address>', 'Address to listen on, instead of service.host')
      .option('--port <number>', 'Port to listen on, instead of service.port; 0 picks any free port'),
    'service',
  )
    .addHelpText('after', EXAMPLES)
    .action(serve)
}

async function serve(flags: Flags): Promise<void> {
  if (flags.root !== undefined) assertFolder('--root', flags.root)
  const { file, options, service, warnings } = await readCliConfig({ ...flags, isQuiet: true })
  const log = openLog(service.log, flags)
  for (const warning of warnings) log.warn('config-warning', warning)
  // Loading the service takes more descriptors than a limit that is too low has.
  connectionLimit(service.maxConnections)
  const { DEFAULT_PORT, startService } = await import('@tool-hub/server')
  const port = flags.port === undefined ? service.port : portOf(flags.port)
  const applied = {
    ...options,
    caller: options.caller ?? callerName(),
    ...(flags.root !== undefined && { sandbox: { ...options.sandbox, root: resolve(flags.root) } }),
  }
  const start = (port: number | undefined) =>
    startService(applied, {
      ...service,
      ...(flags.host !== undefined && { host: flags.host }),
      ...(port !== undefined && { port }),
      ...(file !== undefined && { configFile: file }),
      onLog: log.write,
    })
  // From the start: the service may answer, and get a signal, before everything below has happened.
  const interrupted = interruptSignal()
  let running: RunningService | undefined
  // A closed terminal sends it too: the service continues.
  process.on('SIGHUP', () => void running?.reload())
  running = await start(port).catch(async (error) => {
    if (errnoOf((error as Error)?.cause) !== 'EADDRINUSE') throw error
    if (port !== undefined) throw taken(port)
    // Nobody chose the port, so another one does as well.
    const other = await start(0)
    warnOfOtherPort(log, other, DEFAULT_PORT)
    return other
  })
  ignoreFromNowOn(running.hub, applied)
  try {
    await (flags.json
      ? printJsonLine({ url: running.url, token: running.token })
      : greet(running, { file, files: filesOf(applied), sandbox: await sandboxSummary(applied), log }))
    await untilAborted(interrupted)
    // A person who presses Ctrl-C does not want to wait; what sends SIGTERM may still send requests.
    if (interruptCode() === EXIT.terminated) await running.drain()
  } finally {
    await running.close()
    ignoreByGit(applied)
  }
}

interface Surroundings {
  readonly file: string | undefined
  readonly files: string
  readonly sandbox: string
  readonly log: CommandLog
}

async function greet({ url, token, hub }: RunningService, { file, files, sandbox, log }: Surroundings): Promise<void> {
  const self = ownCommand()
  const rows = [
    ['  sign in', `${url}/#sign-in=${token}`],
    ['  agents', `${self} tokens add my-agent   (a token for HTTP, WebSocket and MCP at ${url}/mcp)`],
    ['  config', file ?? `none, so the defaults apply; ${self} init writes one`],
    ['  files', files],
    ['  commands', sandbox],
  ]
  await print(`${style('bold', `tool-hub ${VERSION}`)} is ready at ${style('bold', url)}\n${table(rows)}`)
  for (const warning of hub.check()) log.warn('config-warning', describeWarning(warning))
  await print('The link is valid while this process runs. Ctrl-C ends it.')
}

/** Which files tools see: agents of a service do not get the folder that it happens to be started in. */
function filesOf({ sandbox = {} }: HubOptions): string {
  const { root, roots = [], workspaces } = sandbox
  const below = workspaces === undefined ? '' : ` below ${workspaces}`
  const first = root ?? `a private, empty folder for each run${below}; --root . gives tools this folder`
  return [first, ...roots.map(({ path, mode }) => (mode === 'read' ? `${path} (only to read)` : path))].join(', ')
}

/** How strongly commands are sandboxed here. */
async function sandboxSummary(options: HubOptions): Promise<string> {
  const { examineSandbox } = await import('./doctor-checks.ts')
  const [{ detail, fix }] = (await examineSandbox(options)) as [DoctorFinding]
  return fix === undefined ? detail : `${detail} ${fix}`
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`--port takes a port, not ${JSON.stringify(text)}.`, 'Give a number from 0 to 65535.')
}

/** Agents may be configured for the usual port, where another program would get their tokens. */
function warnOfOtherPort({ warn }: CommandLog, { url }: RunningService, usual: number): void {
  const { port } = new URL(url)
  warn(
    'other-port',
    `Port ${usual} is taken by another program, so this service listens on port ${port}. ` +
      `Agents that are configured for ${usual} send their tokens to that program.`,
  )
}

function taken(port: number): UsageError {
  return new UsageError(`Port ${port} is taken.`, 'Give another one with --port, or 0 for any that is free.')
}
