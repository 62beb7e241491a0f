import { didYouMean, type HubOptions, toWireName, type Visibility } from '@tool-hub/core'
import { catalogue } from '@tool-hub/library/builtin-tools'
import { compileVisibility } from '@tool-hub/policy'
import type { ToolListing } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { allReady, hasMoreTools } from '../hub/sources.ts'
import { addConfigOption } from '../input/options.ts'
import { lineWidth, table, widthOf } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'

/** How many tools a search finds. */
const MAX_FOUND = 50

/** For what a tool is for. */
const MIN_ROOM = 40

interface ListFlags {
  readonly config?: string
  readonly profile?: string
  readonly group?: string
  readonly search?: string
  readonly hidden?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
The third column has the names of a tool in the dialects that models know (coding, files); a narrow terminal leaves it out.
tool-hub show read shows what a tool takes under such a name. Where a name may contain no slash or dot, core/fs.stat is
core_fs_stat.

Examples:
  tool-hub list
  tool-hub list --group util --json
  tool-hub list --search 'create an issue'      tools by what they do, best first
  tool-hub list --profile minimal --hidden      what that profile hides, and why`

/** `list`: the tools that an agent sees. */
export function describeList(command: Command): void {
  addConfigOption(command)
    .description('List the tools that an agent sees: name, capabilities, names in dialects, purpose.')
    .option('--profile <name>', 'List as with this tools.profile: minimal, coding, messaging, full')
    .option('--group <name>', 'Only this group: files, group:fs')
    .option('--search <text>', 'Only tools that do what the text says, best first, at most 50')
    .option('--hidden', 'Also list what the agent does not see, and why')
    .addHelpText('after', EXAMPLES)
    .action(list)
}

async function list(flags: ListFlags): Promise<void> {
  const { options } = await readCliConfig(flags)
  const shown = { ...options, visibility: visibilityOf(options.visibility, flags) }
  const listed = await openListing(shown)
  const visible = inGroup(listed, flags.group).filter(({ listing }) => listing.visible || flags.hidden)
  const tools = flags.search === undefined ? visible : await searchTools(shown, flags.search, visible)
  if (flags.json) return printJson(tools.map(({ listing, dialectNames }) => ({ ...listing, dialectNames })))
  if (tools.length === 0 && flags.search !== undefined) return say('No tool has these words. Try others.')
  if (tools.length === 0) return say('No tool is visible here. tool-hub list --hidden says why.')
  const rows = tools.map(row)
  await print(table(isNarrow(rows) ? rows.map(withoutDialects) : rows))
}

/** The tools that a search of an agent finds, best first. */
async function searchTools(options: HubOptions, query: string, listed: readonly Listed[]): Promise<readonly Listed[]> {
  if (query.trim() === '') throw new UsageError('--search needs a text.', "Say what the tool should do: 'read a file'.")
  const { withHubOf } = await import('../hub/with-hub.ts')
  const byName = new Map(listed.map((each) => [each.listing.name, each]))
  return withHubOf(options, async (hub) => {
    await allReady(hub)
    const { matches } = await hub.toolSearch.search(query, { limit: MAX_FOUND })
    return matches.flatMap(({ tool }) => byName.get(tool) ?? [])
  })
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

/** If both do not fit, the description of a tool is more useful than its other names. */
function isNarrow(rows: readonly (readonly string[])[]): boolean {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((cells) => widthOf(cells[column]!))))
  return lineWidth() - widths.reduce((sum, width) => sum + width + 2, 0) < MIN_ROOM
}

function withoutDialects([name, capabilities, _dialects, description]: readonly string[]): string[] {
  return [name!, capabilities!, description!]
}

function row({ listing: { name, capabilities, description, visible, why }, dialectNames }: Listed): string[] {
  const firstSentence = description.split(/(?<=[.!?])\s/, 1)[0]!
  return [name, capabilities.join(' ') || 'pure', dialectNames.join(' '), visible ? firstSentence : `hidden: ${why}`]
}

/** A tool as `list` shows it, the names it has in dialects, and the groups it is in. */
interface Listed {
  readonly listing: ToolListing
  readonly dialectNames: readonly string[]
  readonly groups: readonly string[]
}

/** What an agent would see, sorted by name. Only tools from elsewhere need their code for that: a list must be there without delay. */
export async function openListing(options: HubOptions): Promise<Listed[]> {
  if (await hasMoreTools(options)) return listCatalogue(options)
  const sees = compileVisibility(options.visibility ?? {})
  return catalogue.map(({ tool, names, kind, group, groups }) => {
    const { name, title, description, capabilities } = tool
    const facts = { name, ...(title && { title }), description, kind, group, capabilities }
    return { listing: { ...facts, ...sees({ name, names, group }) }, dialectNames: dialectNamesOf(name, names), groups }
  })
}

async function listCatalogue(options: HubOptions): Promise<Listed[]> {
  const { openCatalogue } = await import('../hub/catalogue.ts')
  const { tools, listing } = await openCatalogue(options)
  return tools.map(({ tool, names, groups }, index) => {
    return { listing: listing[index]!, dialectNames: dialectNamesOf(tool.name, names), groups }
  })
}

function dialectNamesOf(name: string, names: readonly string[]): string[] {
  return names.filter((each) => each !== name && each !== toWireName(name))
}
