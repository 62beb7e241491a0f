import { spawn } from 'node:child_process'
import type { HttpMcpServer, McpServer, SourceHost } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import type { ReportedTool, ServerReport } from '@tool-hub/mcp/manage'
import type { Command } from 'commander'
import { EXIT, interruptSignal, UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { addConfigOption } from '../input/options.ts'
import { ownCommand } from '../invocation.ts'
import { fitLine, lineWidth, table, wrapText } from '../output/layout.ts'
import { print, printJson, say, style } from '../output/print.ts'
import { hintOf } from '../report-error.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

/** In a pipe, where a line is as long as it is. */
const MAX_LINE_LENGTH = 160

/** `mcp list`: the servers of the config. */
export function describeMcpList(command: Command): void {
  addConfigOption(command)
    .summary('List the MCP servers of the config')
    .description('List the MCP servers of the config without starting them; tool-hub mcp test starts them.')
    .action(list)
}

async function list(flags: Flags): Promise<void> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const { withoutSecrets } = await import('../mcp/secrets.ts')
  // Values of the environment and of headers are nobody's to read, nor are secrets elsewhere.
  const servers = Object.entries(options.mcpServers ?? {}).map(
    ([name, server]) => [name, withoutSecrets(name, server, () => '[redacted]').entry as McpServer] as const,
  )
  if (flags.json) return printJson(servers.map(([name, server]) => ({ name, ...shown(server) })))
  if (servers.length === 0) return say('There is no MCP server. Add one: tool-hub mcp add NAME -- COMMAND.')
  await print(table(servers.map(([name, server]) => [name, ...Object.values(shown(server))])))
}

function shown(server: McpServer): { kind: string; where: string; notes: string } {
  const isProgram = 'command' in server
  const notes = [
    server.disabled && 'disabled',
    server.trust === true && 'trusted',
    typeof server.trust === 'object' && 'partly trusted',
    isProgram && server.sandbox && 'sandboxed',
    !isProgram && server.headers && 'headers set',
  ]
  return {
    kind: isProgram ? 'program' : 'service',
    where: isProgram ? [server.command, ...(server.args ?? [])].join(' ') : server.url,
    notes: notes.filter(Boolean).join(', '),
  }
}

const TEST_EXAMPLES = `
Exit code: 1 if a server does not answer or a definition has changed, else 0.

Examples:
  tool-hub mcp test
  tool-hub mcp test github --json`

/** `mcp test`: connects to servers and says what they have. */
export function describeMcpTest(command: Command): void {
  addConfigOption(command)
    .summary('Connect to the MCP servers and list their tools')
    .description('Connect to MCP servers, list their tools, and show what changed since they were first seen.')
    .argument('[names...]', 'Names of servers. Default: all that are not disabled')
    .addHelpText('after', TEST_EXAMPLES)
    .action(test)
}

async function test(names: string[], flags: Flags): Promise<void> {
  const { testServer } = await import('@tool-hub/mcp/manage')
  const reports = await withSourceHost(flags, (host, servers) => {
    const asked = names.length > 0 ? names : Object.keys(servers).filter((name) => !servers[name]!.disabled)
    const wanted = asked.map((name) => [name, serverNamed(servers, name)] as const)
    return Promise.all(wanted.map(async ([name, server]) => ({ name, report: await testServer(name, server, host) })))
  })
  if (reports.some(({ report }) => !report.ok || report.tools.some(({ drift }) => drift !== undefined)))
    process.exitCode = EXIT.failed
  if (flags.json) return printJson(reports.map(({ name, report }) => ({ name, ...asJson(report) })))
  if (reports.length === 0) return say('There is no MCP server to test. Add one: tool-hub mcp add NAME -- COMMAND.')
  for (const { name, report } of reports) await print(describeReport(name, report))
}

function asJson(report: ServerReport): object {
  if (report.ok) return report
  const { code, message, fix } = report.problem
  return { ...report, problem: { code, message, fix } }
}

function describeReport(name: string, report: ServerReport): string {
  if (!report.ok) {
    const { code, message } = report.problem
    const line = `${style('red', 'broken')}  ${name}  ${escapeText(`${code}: ${message}`)}`
    return wrapText(`${line}\n        fix: ${escapeText(hintOf(report.problem))}`, 8)
  }
  const { era, info, tools, leftOut, connectMs, listMs } = report
  const who = info ? `${info.name} ${info.version}` : 'it does not say what it is'
  const times = `connected in ${Math.round(connectMs)} ms, listed in ${Math.round(listMs)} ms`
  return [
    fitLine(`${style('green', 'good')}    ${name}  ${escapeLine(who)}, ${era} era, ${times}`),
    ...tools.map(describeTool),
    ...leftOut.map(({ tool, why }) => wrapText(`        left out: ${escapeLine(`${tool}: ${why}`)}`, 10)),
    ...(tools.some(({ drift }) => drift) ? [`        accept what changed: ${ownCommand()} mcp pin ${name}`] : []),
  ].join('\n')
}

function describeTool({ name, description, doubt, isNew }: ReportedTool): string {
  const [line = ''] = description.split('\n', 1)
  const told = fitLine(`        ${escapeLine(`${name}  ${line}`)}`, Math.min(lineWidth(), MAX_LINE_LENGTH))
  if (doubt === undefined) return told
  const what = isNew ? 'hidden from models:' : 'asks:'
  const why = `          ${style('yellow', what)} ${escapeText(doubt).replaceAll('\n', '\n          ')}`
  return `${told}\n${wrapText(why, 10)}`
}

interface PinFlags extends Flags {
  readonly forget?: boolean
}

const PIN_EXAMPLES = `
The definitions of a server are pinned when it is first seen. Until you accept later changes here, models see its tools as they
were, every call of a changed tool needs approval and shows the difference, and new tools are hidden. A running hub notices
within seconds. Look at the changes first: tool-hub mcp test NAME.

Examples:
  tool-hub mcp pin github
  tool-hub mcp pin github --forget`

/** `mcp pin`: accepts the definitions of a server as they are now. */
export function describeMcpPin(command: Command): void {
  addConfigOption(command)
    .summary('Accept changed and new tools of an MCP server')
    .description('Accept the definitions of an MCP server as they were last seen.')
    .argument('<name>', 'Name of the server')
    .option('--forget', 'Forget the pinned definitions; the next ones seen are pinned')
    .addHelpText('after', PIN_EXAMPLES)
    .action(pin)
}

async function pin(name: string, flags: PinFlags): Promise<void> {
  const { Pins } = await import('@tool-hub/mcp/manage')
  await withSourceHost(flags, async (host, servers) => {
    const pins = new Pins(host)
    // Of a server that was taken out, what was pinned can still be looked after.
    if ((await pins.list(name)).length === 0) serverNamed(servers, name)
    if (flags.forget) {
      const forgotten = await pins.forget(name)
      return flags.json ? printJson({ forgotten }) : print(escapeLine(`Forgot ${forgotten} definitions of ${name}.`))
    }
    const accepted = await pins.accept(name)
    if (flags.json) return printJson({ accepted })
    // The names are the server's own.
    const told =
      accepted.length > 0 ? `Accepted: ${accepted.join(', ')}.` : `Nothing of ${name} had changed or was new.`
    await print(escapeLine(told))
  })
}

/** `mcp login`: signs in to a service. */
export function describeMcpLogin(command: Command): void {
  addConfigOption(command)
    .summary('Sign in to an MCP server with the browser')
    .description('Sign in to an MCP server with the browser. Its tokens are stored encrypted, and renewed.')
    .argument('<name>', 'Name of the server')
    .action(login)
}

/** `mcp logout`: forgets what a service handed out. */
export function describeMcpLogout(command: Command): void {
  addConfigOption(command)
    .summary('Sign out of an MCP server')
    .description('Sign out of an MCP server: delete the tokens that it issued.')
    .argument('<name>', 'Name of the server')
    .option('--force', 'Also delete what no key can decrypt')
    .action(logout)
}

async function login(name: string, flags: Flags): Promise<void> {
  await withSourceHost(flags, async (host, servers) => {
    const server = serverNamed(servers, name)
    if (!('url' in server))
      throw new UsageError(`${name} is a program; there is nothing to sign in to.`, 'Give it what it needs by env.')
    if (server.oauth === false) throw new UsageError(`oauth is switched off for ${name}.`, 'Take oauth: false out.')
    const { resolveOAuth } = await import('@tool-hub/mcp/manage')
    const { url, oauth } = resolveOAuth(name, server as HttpMcpServer, host)
    const { signInToServer } = await import('@tool-hub/mcp/manage')
    const fetch = host.webFetch({ origins: [new URL(url).origin], publicHosts: true })
    await signInToServer({ server: name, url, oauth, host, fetch, openBrowser, say, signal: interruptSignal() })
  })
  await (flags.json ? printJson({ signedIn: name }) : print(escapeLine(`Signed in to ${name}.`)))
}

async function logout(name: string, flags: Flags & { readonly force?: boolean }): Promise<void> {
  const { signOut } = await import('@tool-hub/mcp/manage')
  const forgotten = await withSourceHost(flags, async (host) => signOut({ server: name, force: flags.force, host }))
  if (flags.json) return printJson({ signedOut: name, forgotten })
  await print(escapeLine(forgotten ? `Signed out of ${name}.` : `There was no sign-in to ${name}.`))
}

/** Opens the person's own browser; without one, the printed address can be opened elsewhere. */
function openBrowser(url: string): Promise<void> {
  const command = process.platform === 'darwin' ? 'open' : 'xdg-open'
  return new Promise((resolve, reject) => {
    const child = spawn(command, [url], { stdio: 'ignore', detached: true })
    child.once('error', reject)
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
  })
}

/** Opens a hub with only the built-in tools, so that `use` can connect to the servers of its config. */
async function withSourceHost<T>(
  flags: { readonly config?: string },
  use: (host: SourceHost, servers: Readonly<Record<string, McpServer>>) => Promise<T>,
): Promise<T> {
  // Listing servers does not run the code of plugins.
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const { mcpServers = {}, skills: _skills, sources: _sources, plugins: _plugins, ...rest } = options
  const { withHubOf } = await import('../hub/with-hub.ts')
  return withHubOf(rest, async (hub) => {
    const host = await new Promise<SourceHost>((resolve) => {
      hub.connect({ name: 'tool-hub mcp', start: resolve })
    })
    return use(host, mcpServers)
  })
}

/** The server of this name. */
function serverNamed(servers: Readonly<Record<string, McpServer>>, name: string): McpServer {
  if (Object.hasOwn(servers, name)) return servers[name]!
  const known = Object.keys(servers)
  throw new UsageError(
    `There is no MCP server ${JSON.stringify(name)} in the config.`,
    known.length > 0 ? `There are: ${known.join(', ')}.` : 'Add one: tool-hub mcp add NAME -- COMMAND.',
  )
}
