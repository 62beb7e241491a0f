import type { Command } from 'commander'
import { didYouMean } from '../../names.ts'
import type { Visibility } from '../../options.ts'
import { type Listed, openListing } from '../hub/open-listing.ts'
import { readConfig } from '../hub/read-config.ts'
import { addConfigOption } from '../input/add-options.ts'
import { print, printJson, say } from '../output/print.ts'
import { table } from '../output/table.ts'
import { UsageError } from '../usage-error.ts'

interface ListFlags {
  readonly config?: string
  readonly profile?: string
  readonly group?: string
  readonly hidden?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
The third column has the names that models know a tool by in a dialect (coding, files); tool-hub show read shows what
such a name takes. Where a name may have no / and no dot, core/fs.stat is core_fs_stat.

Examples:
  tool-hub list
  tool-hub list --group util --json
  tool-hub list --profile minimal --hidden      what that profile hides, and why`

/** `list`: the tools that an agent sees. */
export function describeList(command: Command): void {
  addConfigOption(command)
    .description('List the tools that an agent sees: name, capabilities, names in dialects, what it is for.')
    .option('--profile <name>', 'As if tools.profile were this: minimal, coding, messaging, full')
    .option('--group <name>', 'Only this group: fs, group:fs')
    .option('--hidden', 'Also what the agent does not see, and why')
    .addHelpText('after', EXAMPLES)
    .action(list)
}

async function list(flags: ListFlags): Promise<void> {
  const { options } = await readConfig(flags)
  const listed = await openListing({ ...options, visibility: visibilityOf(options.visibility, flags) })
  const tools = inGroup(listed, flags.group).filter(({ listing }) => listing.visible || flags.hidden)
  if (flags.json) return printJson(tools.map(({ listing, dialectNames }) => ({ ...listing, dialectNames })))
  if (tools.length === 0) return say('No tool is visible here. tool-hub list --hidden says why.')
  await print(table(tools.map(row)))
}

/** An unknown profile is refused where visibility is compiled, with the nearest name. */
function visibilityOf(own: Visibility | undefined, { profile }: ListFlags): Visibility | undefined {
  return profile === undefined ? own : { ...own, profile: profile as Visibility['profile'] }
}

function inGroup(listed: readonly Listed[], wanted: string | undefined): readonly Listed[] {
  if (wanted === undefined) return listed
  const group = (wanted.startsWith('group:') ? wanted : `group:${wanted}`).toLowerCase()
  const known = new Set(listed.flatMap(({ groups }) => groups))
  if (known.has(group)) return listed.filter(({ groups }) => groups.includes(group))
  const hint = didYouMean(group, known) || `Groups: ${[...known].sort().join(', ')}.`
  throw new UsageError(`No tool is in ${group}.`, hint)
}

function row({ listing: { name, capabilities, description, visible, why }, dialectNames }: Listed): string[] {
  const firstSentence = description.split(/(?<=[.!?])\s/, 1)[0]!
  return [name, capabilities.join(' ') || 'pure', dialectNames.join(' '), visible ? firstSentence : `hidden: ${why}`]
}
