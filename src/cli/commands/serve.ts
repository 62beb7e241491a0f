import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { LogOptions } from '../../config/index.ts'
import type { DoctorFinding, HubOptions } from '../../core/index.ts'
import { errnoOf, escapeLine, VERSION } from '../../lib/index.ts'
import {
  connectionLimit,
  formatJson,
  formatText,
  LOG_LEVELS,
  type LogEntry,
  type RunningService,
} from '../../server/index.ts'
import { interruptSignal, UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { ignoreByGit, ignoreFromNowOn } from '../hub/folders.ts'
import { assertFolder } from '../input/options.ts'
import { callerName, ownCommand } from '../invocation.ts'
import { table } from '../output/layout.ts'
import { print, printJsonLine, say, style } from '../output/print.ts'

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
  command
    .description('Run tool-hub as a service: agents call it, people watch and approve in a web page.')
    .option('--config <file>', 'Config file. Default: the nearest tool-hub.yaml, here or above')
    .option('--root <folder>', 'Folder that tools read and write, instead of sandbox.root')
    .option('--host <address>', 'Address to listen on, instead of service.host')
    .option('--port <number>', 'Port to listen on, instead of service.port; 0 picks any free port')
    .option('--log <format>', 'What is written to stderr: json, text or none, instead of service.log')
    .option('--log-level <level>', 'Lowest level that is logged: debug, info, warn or error')
    .addHelpText('after', EXAMPLES)
    .action(serve)
}

async function serve(flags: Flags): Promise<void> {
  if (flags.root !== undefined) assertFolder('--root', flags.root)
  const { file, options, service } = await readCliConfig(flags)
  // Loading the service takes more descriptors than a limit that is too low has.
  connectionLimit(service.maxConnections)
  const { DEFAULT_PORT, startService } = await import('../../server/index.ts')
  const port = flags.port === undefined ? service.port : portOf(flags.port)
  const applied = {
    ...options,
    caller: options.caller ?? callerName(),
    ...(flags.root !== undefined && { sandbox: { ...options.sandbox, root: resolve(flags.root) } }),
  }
  const onLog = logWriter(service.log, flags)
  const start = (port: number | undefined) =>
    startService(applied, {
      ...service,
      ...(flags.host !== undefined && { host: flags.host }),
      ...(port !== undefined && { port }),
      ...(file !== undefined && { configFile: file }),
      onLog,
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
    sayOtherPort(other, DEFAULT_PORT)
    return other
  })
  ignoreFromNowOn(running.hub, applied)
  try {
    await (flags.json
      ? printJsonLine({ url: running.url, token: running.token })
      : greet(running, { file, files: filesOf(applied), sandbox: await sandboxSummary(applied) }))
    await untilAborted(interrupted)
  } finally {
    await running.close()
    ignoreByGit(applied)
  }
}

interface Surroundings {
  readonly file: string | undefined
  readonly files: string
  readonly sandbox: string
}

async function greet({ url, token, hub }: RunningService, { file, files, sandbox }: Surroundings): Promise<void> {
  const self = ownCommand()
  const rows = [
    ['  sign in', `${url}/#sign-in=${token}`],
    ['  agents', `${self} tokens add my-agent   (a token for HTTP, WebSocket and MCP at ${url}/mcp)`],
    ['  config', file ?? `none, so the defaults apply; ${self} init writes one`],
    ['  files', files],
    ['  commands', sandbox],
  ]
  await print(`${style('bold', `tool-hub ${VERSION}`)} is ready at ${style('bold', url)}\n${table(rows)}`)
  for (const { message } of hub.check()) say(`${style('yellow', 'warning:', process.stderr)} ${escapeLine(message)}`)
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
function sayOtherPort({ url }: RunningService, usual: number): void {
  const { port } = new URL(url)
  say(
    `${style('yellow', 'warning:', process.stderr)} Port ${usual} is taken by another program, so this service ` +
      `listens on port ${port}. Agents that are configured for ${usual} send their tokens to that program.`,
  )
}

function taken(port: number): UsageError {
  return new UsageError(`Port ${port} is taken.`, 'Give another one with --port, or 0 for any that is free.')
}

/** What the options of a command say about its log. */
interface LogFlags {
  readonly log?: string
  readonly logLevel?: string
}

/** Writes the log of a service to stderr: for people on a terminal, else as lines of JSON. */
function logWriter(config: LogOptions | undefined, flags: LogFlags): (entry: LogEntry) => void {
  const { format, level = 'info' } = { ...config, ...readFlags(flags) }
  if (format === 'none') return () => {}
  const isText = format === undefined ? process.stderr.isTTY : format === 'text'
  const least = LOG_LEVELS.indexOf(level)
  return (entry) => {
    if (LOG_LEVELS.indexOf(entry.level) >= least) say(isText ? formatText(entry) : formatJson(entry))
  }
}

function readFlags({ log, logLevel }: LogFlags): LogOptions {
  return {
    ...(log !== undefined && { format: oneOf('--log', log, ['json', 'text', 'none']) }),
    ...(logLevel !== undefined && { level: oneOf('--log-level', logLevel, LOG_LEVELS) }),
  }
}

function oneOf<const T extends string>(option: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === text)
  if (found !== undefined) return found
  throw new UsageError(`${option} ${JSON.stringify(text)} is not known.`, `Use ${allowed.join(', ')}.`)
}
