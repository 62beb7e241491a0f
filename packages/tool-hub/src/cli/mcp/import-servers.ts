import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { escapeLine, isPlainObject } from '@tool-hub/core/lib'
import { UsageError } from '../exit.ts'
import { ownCommand } from '../invocation.ts'
import { say } from '../output/print.ts'
import { findFault } from './add-server.ts'
import { agentPrograms } from './agent-programs.ts'
import { ownConfigFile, planServers, serversIn } from './edit-servers.ts'
import { makeEdit } from './file-edit.ts'
import { type TakenOut, withoutSecrets } from './secrets.ts'

/** What the options of `mcp import` say. */
export interface ImportFlags {
  readonly config?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** Copies the servers of another program into the config. */
export async function importServers(from: string, flags: ImportFlags): Promise<void> {
  const files = filesOf(from)
  const read = files.filter((file) => existsSync(file))
  const found = read.flatMap((file) => readServers(file))
  if (found.length === 0) throw nothing(files, read)
  const config = await ownConfigFile(flags)
  const { file } = config
  const present = existsSync(file) ? serversIn(file, readFileSync(file, 'utf8'), 'mcpServers') : {}
  const changes = new Map<string, unknown>()
  for (const [name, written] of found) {
    // It would call itself.
    if (isOurselves(written)) continue
    if (changes.has(name)) note(`${name} is there twice; the first counts, of ${read[0]}.`)
    else if (!flags.force && Object.hasOwn(present, name))
      note(`${name} is there already and stays; --force replaces it.`)
    else takeOver(name, written, changes)
  }
  if (changes.size === 0) return say('There is nothing to take over.')
  const edit = planServers(
    config,
    [...changes].map(([name, entry]) => ({ name, entry })),
  )
  await makeEdit(edit, flags, [`Then: ${ownCommand()} mcp test`])
  // Copying alone would leave an agent that bypasses the policy.
  note(`Read: ${read.join(', ')}. The servers are still in there, and an agent uses them past tool-hub.`)
  note(`Take them out there when they work here, and put tool-hub in: ${ownCommand()} mcp install.`)
}

function takeOver(name: string, written: unknown, changes: Map<string, unknown>): void {
  const { entry, dropped } = withoutRights(written)
  const { entry: cleaned, taken } = withoutSecrets(name, withoutInputs(entry))
  const fault = findFault(name, cleaned)
  if (fault) {
    note(`${name} was left out: ${fault.message}. ${fault.hint}`)
    return
  }
  if (dropped.length > 0) note(`${name}: not copied: ${dropped.join(', ')}. What it may do, you say here.`)
  for (const { part, variable } of taken)
    note(`${name}: a secret in ${placeInFile(part)} was not copied; set ${variable}.`)
  changes.set(name, cleaned)
}

function placeInFile(part: TakenOut['part']): string {
  return part === 'url' ? 'its url' : `its ${part}`
}

/** What is taken over; the rest says nothing here, or is not for a file of somebody else to decide. */
const TAKEN = ['type', 'command', 'args', 'env', 'cwd', 'disabled', 'timeout', 'startTimeout', 'url', 'headers']

/** Trust, sandbox and approvals of a server are settings of the owner, so they are not copied. */
function withoutRights(written: unknown): { readonly entry: unknown; readonly dropped: readonly string[] } {
  if (!isPlainObject(written)) return { entry: written, dropped: [] }
  const entry = Object.fromEntries(Object.entries(written).filter(([key]) => TAKEN.includes(key)))
  const dropped = Object.keys(written).filter((key) => !TAKEN.includes(key) && key !== 'sandbox' && key !== 'oauth')
  const { sandbox, oauth } = written
  if (sandbox !== undefined && sandbox !== true) dropped.push(sandbox ? 'what sandbox opens' : 'sandbox: false')
  if (sandbox) entry.sandbox = true
  if (isPlainObject(oauth)) {
    const { clientSecret, ...others } = oauth
    if (clientSecret !== undefined) dropped.push('oauth.clientSecret')
    if (Object.keys(others).length > 0) entry.oauth = others
  } else if (oauth !== undefined) entry.oauth = oauth
  return { entry, dropped }
}

/** VS Code asks the person for `${input:x}`; here it comes from the environment. */
function withoutInputs<T>(value: T): T {
  if (typeof value === 'string')
    return value.replaceAll(/\$\{input:([\w.-]+)\}/g, (_, id: string) => {
      const variable = id.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')
      note(`Set ${variable}: it takes the place of \${input:${id}}.`)
      return `\${env:${variable}}`
    }) as T
  if (Array.isArray(value)) return value.map(withoutInputs) as T
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutInputs(item)])) as T
}

/** Names and values of the file are somebody else's. */
function note(text: string): void {
  say(escapeLine(text))
}

function nothing(files: readonly string[], read: readonly string[]): UsageError {
  const names = agentPrograms().map(({ name }) => name)
  if (read.length === 0)
    return new UsageError(
      files.length === 1 ? `${files[0]} does not exist.` : `None of these files exists: ${files.join(', ')}.`,
      `Give a file with mcpServers, or one of: ${names.join(', ')}.`,
    )
  return new UsageError(
    `No MCP server is in ${read.join(' and ')}.`,
    'It should have mcpServers, or servers, with an entry each.',
  )
}

function filesOf(from: string): string[] {
  const program = agentPrograms().find(({ name }) => name === from)
  if (!program) return [resolve(from)]
  return [...(program.project === undefined ? [] : [resolve(program.project)]), program.user]
}

function readServers(file: string): [string, unknown][] {
  const text = readFileSync(file, 'utf8')
  return ['mcpServers', 'servers'].flatMap((key) => Object.entries(serversIn(file, text, key)))
}

function isOurselves(entry: unknown): boolean {
  const { args } = (entry ?? {}) as { args?: unknown }
  return (
    Array.isArray(args) && args.includes('mcp') && args.some((word) => /tool-hub|cli[/\\]main\.js$/.test(String(word)))
  )
}
