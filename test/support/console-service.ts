import { createClient, type HubClient } from '@tool-hub/client'
import type { Scope } from '@tool-hub/core/protocol/shapes'
import { type CliFolder, cliFolder, type Running } from './cli.ts'

/** The built service in a folder of its own, and those who use it. */
export interface ConsoleService {
  readonly folder: CliFolder
  readonly url: string
  /** The sign-in token that `serve` printed last. */
  readonly ownerToken: string
  /** The owner, as a program. */
  readonly owner: HubClient
  /** An agent whose commands and edits are asked, not off. */
  readonly agent: HubClient
  newToken(name: string, scopes: readonly [Scope, ...Scope[]]): Promise<string>
  as(token: string): HubClient
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** Starts it again in the same folder, on the same port. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Starts the built service as a person would, after `prepare` has filled its folder. */
export async function startConsoleService(prepare?: (folder: string) => Promise<void>): Promise<ConsoleService> {
  const folder = cliFolder(CONFIG)
  await prepare?.(folder.path)
  const added = await folder.run(['tokens', 'add', 'agent', '--allow-danger'])
  if (added.code !== 0) throw new Error(added.stderr)
  const agentToken = added.stdout.trim()
  let served = await serve(folder, 0)
  const as = (token: string) => createClient({ url: served.url, token })
  return {
    folder,
    get url() {
      return served.url
    },
    get ownerToken() {
      return served.token
    },
    get owner() {
      return as(served.token)
    },
    get agent() {
      return as(agentToken)
    },
    as,
    async newToken(name, scopes) {
      return (await as(served.token).tokens.create({ name, scopes: [...scopes] })).secret
    },
    async kill() {
      served.running.child.kill('SIGKILL')
      await served.running.ended
    },
    async restart() {
      served = await serve(folder, Number(new URL(served.url).port))
    },
    async close() {
      served.running.child.kill('SIGTERM')
      await served.running.ended
      folder.remove()
    },
  }
}

async function serve(folder: CliFolder, port: number) {
  const running: Running = folder.start(['serve', '--port', String(port), '--json'])
  let printed = ''
  running.child.stdout.on('data', (text: string) => {
    printed += text
  })
  await running.says('"token"')
  const { url, token } = JSON.parse(printed) as { url: string; token: string }
  return { url, token, running }
}

const CONFIG = `version: 1
plugins: [./plugin.mjs]
sandbox: { root: . }
policy:
  # People look at every change first.
  - { ask: write:fs, reason: "a person looks at every change" }
  - { ask: exec, reason: "a person looks at every command" }
`
