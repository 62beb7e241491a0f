import type { Command } from 'commander'
import type { Hub, ToolListing } from '../../hub.ts'
import { didYouMean, toWireName } from '../../names.ts'
import { groupsOf } from '../../policy/tool-groups.ts'
import { addConfigOption } from '../hub-options.ts'
import { type HubFlags, openHub } from '../open-hub.ts'
import { print, printJson, say } from '../print.ts'
import { table } from '../table.ts'
import { UsageError } from '../usage-error.ts'

interface ListFlags extends HubFlags {
  readonly group?: string
  readonly hidden?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  tool-hub list
  tool-hub list --group util --json
  tool-hub list --profile minimal --hidden      what that profile hides, and why`

/** `list`: the tools that an agent sees. */
export function describeList(command: Command): void {
  addConfigOption(command)
    .description('List the tools that an agent sees: name, capabilities, what it is for.')
    .option('--profile <name>', 'As if tools.profile were this: minimal, coding, messaging, full')
    .option('--group <name>', 'Only this group: fs, group:fs')
    .option('--hidden', 'Also what the agent does not see, and why')
    .addHelpText('after', EXAMPLES)
    .action(list)
}

async function list(flags: ListFlags): Promise<void> {
  const hub = await openHub(flags)
  const tools = inGroup(hub, hub.list({ hidden: flags.hidden }), flags.group)
  if (flags.json) return printJson(tools)
  if (tools.length === 0) return say('No tool is visible here. tool-hub list --hidden says why.')
  await print(table(tools.map(row)))
}

function inGroup(hub: Hub, tools: ToolListing[], wanted: string | undefined): ToolListing[] {
  if (wanted === undefined) return tools
  const group = (wanted.startsWith('group:') ? wanted : `group:${wanted}`).toLowerCase()
  const known = new Set(hub.list({ hidden: true }).flatMap((tool) => groupsIn(hub, tool)))
  if (known.has(group)) return tools.filter((tool) => groupsIn(hub, tool).includes(group))
  const hint = didYouMean(group, known) || `Groups: ${[...known].sort().join(', ')}.`
  throw new UsageError(`No tool is in ${group}.`, hint)
}

function groupsIn(hub: Hub, { name, group }: ToolListing): string[] {
  const dialects = Object.values(hub.registry.get(name)?.dialects ?? {})
  return groupsOf({ name, group, names: [toWireName(name), ...dialects.map((dialect) => dialect.name)] })
}

function row({ name, capabilities, description, visible, why }: ToolListing): string[] {
  const firstSentence = description.split(/(?<=[.!?])\s/, 1)[0]!
  return [name, capabilities.join(' ') || 'pure', visible ? firstSentence : `hidden: ${why}`]
}
