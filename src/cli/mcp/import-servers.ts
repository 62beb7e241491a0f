import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { mcpServersSchema } from '../../config/mcp-schema.ts'
import { say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'
import { agentPrograms } from './agent-programs.ts'
import { serversIn } from './edit-servers.ts'
import { makeEdit } from './make-edit.ts'
import { ownConfigFile, planServers } from './own-config.ts'
import { withoutSecrets } from './without-secrets.ts'

/** What the options of `mcp import` say. */
export interface ImportFlags {
  readonly config?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** Copies the servers of another program into the config. */
export async function importServers(from: string, flags: ImportFlags): Promise<void> {
  const found = filesOf(from).flatMap((file) => readServers(file))
  if (found.length === 0) throw new UsageError(`No MCP server was found in ${filesOf(from).join(' and ')}.`, '')
  const file = await ownConfigFile(flags)
  const present = existsSync(file) ? serversIn(file, readFileSync(file, 'utf8'), 'mcpServers') : {}
  const changes: { name: string; entry: unknown }[] = []
  for (const [name, written] of found) {
    // It would call itself.
    if (isOurselves(written)) continue
    if (!flags.force && Object.hasOwn(present, name)) {
      say(`${name} is there already and stays; --force replaces it.`)
      continue
    }
    const { entry, missing } = withoutSecrets(written)
    const checked = mcpServersSchema.safeParse({ [name]: entry })
    if (!checked.success) {
      say(`${name} was left out: ${checked.error.issues[0]?.message}`)
      continue
    }
    for (const variable of missing) say(`${name}: its secret was not copied; set ${variable} in your environment.`)
    changes.push({ name, entry })
  }
  if (changes.length === 0) return say('There is nothing to take over.')
  await makeEdit(planServers(file, changes), flags, ['Then: tool-hub mcp test'])
}

function filesOf(from: string): string[] {
  const program = agentPrograms().find(({ name }) => name === from)
  if (!program) return [resolve(from)]
  return [...(program.project === undefined ? [] : [resolve(program.project)]), program.user]
}

function readServers(file: string): [string, unknown][] {
  if (!existsSync(file)) return []
  const text = readFileSync(file, 'utf8')
  return ['mcpServers', 'servers'].flatMap((key) => Object.entries(serversIn(file, text, key)))
}

function isOurselves(entry: unknown): boolean {
  const { args } = (entry ?? {}) as { args?: unknown }
  return (
    Array.isArray(args) && args.includes('mcp') && args.some((word) => /tool-hub|cli[/\\]main\.js$/.test(String(word)))
  )
}
