import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { mcpServersSchema } from '../../config/mcp-schema.ts'
import { addConfigOption } from '../input/add-options.ts'
import { agentPrograms } from '../mcp/agent-programs.ts'
import { serversIn } from '../mcp/edit-servers.ts'
import { makeEdit } from '../mcp/make-edit.ts'
import { ownConfigFile, planServers } from '../mcp/own-config.ts'
import { withoutSecrets } from '../mcp/without-secrets.ts'
import { say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'

interface ImportFlags {
  readonly config?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
Secrets that stand in that file are not copied: the config gets \${env:NAME}, and you are told which names to set.

Examples:
  tool-hub mcp import claude-code
  tool-hub mcp import ./team/mcp.json --dry-run`

/** `mcp import`: servers of another program's config into ours. */
export function describeMcpImport(command: Command): void {
  addConfigOption(command)
    .summary('Take over the servers of Claude, Cursor or VS Code')
    .description('Copy the MCP servers of another program into the config, so that their tools are governed here.')
    .argument(
      '<from>',
      `${agentPrograms()
        .map(({ name }) => name)
        .join(', ')}, or the path of a file`,
    )
    .option('--force', 'Replace servers of the same name')
    .option('--dry-run', 'Only show the change')
    .addHelpText('after', EXAMPLES)
    .action(importServers)
}

async function importServers(from: string, flags: ImportFlags): Promise<void> {
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
