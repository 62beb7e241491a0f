import { type AnyTool, FEATURE_TOOL_NAMES, ToolError, toWireName } from '@tool-hub/core'
import { groupsOf, normaliseName } from '@tool-hub/policy'
import { coreTools } from '@tool-hub/runtime/tools'

/** Reserved prefixes on the wire, and their owners. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['core_', 'the hub itself'],
  ['mcp_', 'an MCP server'],
])

/** Dialect names of the tools that skills add, which may be offered later. */
const OF_SKILLS = ['skill', 'list_skills', 'load_skill']

/**
 * Throws CONFIG_INVALID for a name that rules of the owner may use for another tool, even one that does not exist yet:
 * names of built-in tools in any dialect, names of groups, and everything below `core/` and `mcp/`. For tools that do
 * not come from the owner, who may use such a name.
 */
export function refuseReservedName(name: string): void {
  const owner = ownerOf(name)
  if (owner === undefined) return
  throw new ToolError('CONFIG_INVALID', `The name ${name} is kept for a tool of ${owner}.`, {
    hint: 'Give the tool another name.',
  })
}

function ownerOf(name: string): string | undefined {
  const wire = normaliseName(toWireName(name))
  const prefix = [...PREFIXES.keys()].find((prefix) => wire.startsWith(prefix))
  if (prefix !== undefined) return PREFIXES.get(prefix)
  // The first group is its own.
  const [, group] = groupsOf({ name, names: [wire], group: '' })
  if (group !== undefined) return group
  return namesOfBuiltins().has(wire) ? 'the hub itself' : undefined
}

let known: ReadonlySet<string> | undefined

function namesOfBuiltins(): ReadonlySet<string> {
  known ??= new Set([...coreTools.flatMap(dialectNames), ...FEATURE_TOOL_NAMES, ...OF_SKILLS].map(normaliseName))
  return known
}

function dialectNames({ dialects = {} }: AnyTool): string[] {
  return Object.values(dialects).flatMap(({ name, aliases = [] }) => [name, ...aliases])
}
