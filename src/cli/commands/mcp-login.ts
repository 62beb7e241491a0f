import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import type { HttpMcpServer } from '../../options.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { addConfigOption } from '../input/add-options.ts'
import { interruptSignal } from '../interrupt.ts'
import { serverNamed, withSourceHost } from '../mcp/with-source-host.ts'
import { print, printJson, say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'

interface LoginFlags {
  readonly config?: string
  readonly json?: boolean
}

/** `mcp login`: signs in to a service. */
export function describeMcpLogin(command: Command): void {
  addConfigOption(command)
    .summary('Sign in to an MCP server by the browser')
    .description('Sign in to an MCP server by the browser. What it hands out is kept encrypted, and renewed.')
    .argument('<name>', 'Its name')
    .action(login)
}

/** `mcp logout`: forgets what a service handed out. */
export function describeMcpLogout(command: Command): void {
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
    const { resolveOAuth } = await import('../../sources/mcp/resolve-oauth.ts')
    const { url, oauth } = resolveOAuth(name, server as HttpMcpServer, host)
    const { signInToServer } = await import('../../sources/mcp/oauth/sign-in.ts')
    const fetch = host.webFetch({ origins: [new URL(url).origin], publicHosts: true })
    await signInToServer({ server: name, url, oauth, host, fetch, openBrowser, say, signal: interruptSignal() })
  })
  await (flags.json ? printJson({ signedIn: name }) : print(escapeLine(`Signed in to ${name}.`)))
}

async function logout(name: string, flags: LoginFlags): Promise<void> {
  const { signOut } = await import('../../sources/mcp/oauth/sign-in.ts')
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
