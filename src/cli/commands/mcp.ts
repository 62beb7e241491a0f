import { spawn } from 'node:child_process'
import type { Command, CommanderError } from 'commander'
import { didYouMean, type HttpMcpServer, type McpServer } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { readCliConfig } from '../hub/read-config.ts'
import { addConfigOption } from '../input/add-options.ts'
import { interruptSignal } from '../interrupt.ts'
import { serverNamed, withSourceHost } from '../mcp/with-source-host.ts'
import { print, printJson, say } from '../output/print.ts'
import { table } from '../output/table.ts'
import { UsageError } from '../usage-error.ts'
import { describeMcpAdd, describeMcpRemove } from './mcp-add.ts'
import { describeMcpImport } from './mcp-import.ts'
import { describeMcpInstall } from './mcp-install.ts'
import { describeMcpPin } from './mcp-pin.ts'
import { serve } from './mcp-serve.ts'
import { describeMcpTest } from './mcp-test.ts'

const EXAMPLES = `
Without a command it serves the tools of this config to the process that started it, over standard input and output; with --http
over HTTP. What policy asks is put to the client as a form, where it can show one. It is not when approvals.inbox is set (it
waits for tool-hub approvals then), over HTTP without a token, or with --no-elicitation; approvals.elicitation decides otherwise.
With a config whose path is absolute, runs and data are beside that config unless it says where; with --no-config they are
in ~/.tool-hub.

Examples:
  tool-hub mcp install claude-code       puts tool-hub into Claude Code, for this project
  tool-hub mcp add github --env GITHUB_TOKEN='\${secret:github}' -- npx -y some-github-server
  tool-hub mcp add docs --url https://mcp.example.org/mcp
  tool-hub mcp test github
  tool-hub mcp --root . --http 8808`

/** `mcp`: serves the tools, and manages the servers whose tools are here too. */
export function describeMcp(command: Command): void {
  addConfigOption(command)
    .description('Serve the tools over MCP, and manage the MCP servers whose tools are here too.')
    .option('--no-config', 'Read no config, and load no tools from the folder it is started in')
    .option('--root <dir>', 'Folder that tools may read and write')
    .option('--dialect <name>', "Names and arguments that the client sees: coding, files. Default: the profile's own")
    .option('--http [port]', 'Serve over HTTP instead. Default: any free port')
    .option('--host <address>', 'Address to listen on; any other than the default 127.0.0.1 needs --token-env')
    .option('--token-env <name>', 'Environment variable with the bearer token that HTTP clients must send')
    .option('--no-elicitation', 'Never put what policy asks to the client')
    .option('--watch', 'Load folders of tools that the config names again whenever they change')
    .option('--debug', 'Print the stack of an error')
    .addHelpText('after', EXAMPLES)
    .action(serve)
  describeMcpInstall(command.command('install'))
  describeMcpAdd(command.command('add'))
  describeMcpRemove(command.command('remove'))
  describeMcpList(command.command('list'))
  describeMcpTest(command.command('test'))
  describeMcpPin(command.command('pin'))
  describeMcpLogin(command.command('login'))
  describeMcpLogout(command.command('logout'))
  describeMcpImport(command.command('import'))
  // Last, so that the commands below keep their own.
  command.exitOverride((error) => {
    throw inWords(error, command)
  })
}

/** A word that is no command, told with those there are. */
function inWords(error: CommanderError, { args, commands }: Command): Error {
  const [word] = args
  const isWord = error.code === 'commander.excessArguments' || error.code === 'commander.unknownCommand'
  if (!isWord || word === undefined) return error
  const names = commands.map((each) => each.name())
  return new UsageError(
    `There is no command mcp ${word}.`,
    didYouMean(word, names) || `There are: ${names.join(', ')}; without one, mcp serves the tools.`,
  )
}

/** `mcp list`: the servers of the config. */
function describeMcpList(command: Command): void {
  addConfigOption(command)
    .summary('List the MCP servers of the config')
    .description('List the MCP servers of the config; none is started. tool-hub mcp test starts them.')
    .action(list)
}

async function list(flags: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const { withoutSecrets } = await import('../mcp/without-secrets.ts')
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
    server.trust && 'trusted',
    isProgram && server.sandbox && 'fenced',
    !isProgram && server.headers && 'headers set',
  ]
  return {
    kind: isProgram ? 'program' : 'service',
    where: isProgram ? [server.command, ...(server.args ?? [])].join(' ') : server.url,
    notes: notes.filter(Boolean).join(', '),
  }
}

interface LoginFlags {
  readonly config?: string
  readonly json?: boolean
}

/** `mcp login`: signs in to a service. */
function describeMcpLogin(command: Command): void {
  addConfigOption(command)
    .summary('Sign in to an MCP server by the browser')
    .description('Sign in to an MCP server by the browser. What it hands out is kept encrypted, and renewed.')
    .argument('<name>', 'Its name')
    .action(login)
}

/** `mcp logout`: forgets what a service handed out. */
function describeMcpLogout(command: Command): void {
  addConfigOption(command)
    .summary('Forget a sign-in')
    .description('Forget what an MCP server handed out at the sign-in.')
    .argument('<name>', 'Its name')
    .action(logout)
}

async function login(name: string, flags: LoginFlags): Promise<void> {
  await withSourceHost(flags, async (host, servers) => {
    const server = serverNamed(servers, name)
    if (!('url' in server))
      throw new UsageError(`${name} is a program; there is nothing to sign in to.`, 'Give it what it needs by env.')
    if (server.oauth === false) throw new UsageError(`oauth is switched off for ${name}.`, 'Take oauth: false out.')
    const { resolveOAuth } = await import('../../sources/mcp/index.ts')
    const { url, oauth } = resolveOAuth(name, server as HttpMcpServer, host)
    const { signInToServer } = await import('../../sources/mcp/index.ts')
    const fetch = host.webFetch({ origins: [new URL(url).origin], publicHosts: true })
    await signInToServer({ server: name, url, oauth, host, fetch, openBrowser, say, signal: interruptSignal() })
  })
  await (flags.json ? printJson({ signedIn: name }) : print(escapeLine(`Signed in to ${name}.`)))
}

async function logout(name: string, flags: LoginFlags): Promise<void> {
  const { signOut } = await import('../../sources/mcp/index.ts')
  const forgotten = await withSourceHost(flags, async (host) => signOut({ server: name, host }))
  if (flags.json) return printJson({ signedOut: name, forgotten })
  await print(escapeLine(forgotten ? `Signed out of ${name}.` : `There was no sign-in to ${name}.`))
}

/** The person's own browser; where there is none, the address was told. */
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
