import { groupOf, type Visibility } from '../core/index.ts'
import { deepFreeze } from '../lib/index.ts'

/** Groups by the names that models know; a tool is also in the group of its own area: `core/util.time.now` in `group:util`. */
export const TOOL_GROUPS: Readonly<Record<string, readonly string[]>> = deepFreeze({
  'group:fs': ['read', 'write', 'edit', 'apply_patch'],
  'group:files': [
    ...['read', 'write', 'edit', 'apply_patch', 'find', 'ls', 'grep'],
    ...['read_file', 'write_file', 'list_files', 'search_files', 'grep_files'],
  ],
  'group:runtime': ['exec', 'process'],
  'group:web': ['web_search', 'web_fetch'],
  'group:sessions': ['sessions_list', 'sessions_send', 'sessions_spawn'],
  'group:messaging': ['message'],
  'group:util': [],
})

/** The built-in tools that each profile shows. */
export const PROFILES: ReadonlyMap<NonNullable<Visibility['profile']>, readonly string[]> = new Map([
  ['minimal', ['session_status']],
  ['coding', ['group:files', 'group:runtime', 'group:sessions', 'group:skill']],
  ['messaging', ['group:messaging', 'sessions_list', 'sessions_history', 'session_status']],
  ['full', ['*']],
])

/** What groups and lists look at. */
export interface ToolNames {
  /** Canonical name. */
  readonly name: string
  /** Dialect and wire names too. */
  readonly names: readonly string[]
  /** `notes` for `group:notes`; by default the area in the name. */
  readonly group?: string
}

/** Every group a tool is in, as rules spell them: its own, and those that list one of its names. */
export function groupsOf({ name, names, group = groupOf(name) }: ToolNames): string[] {
  const all = new Set([name, ...names].map(normaliseName))
  const listing = Object.entries(TOOL_GROUPS)
    .filter(([, members]) => members.some((member) => all.has(member)))
    .map(([key]) => key)
  return [...new Set([normaliseName(`group:${group}`), ...listing])]
}

/** What a deny or an ask of `group:fs` leaves open, for an owner who means every tool for files. */
export function doubtNarrowGroup(denied: readonly string[]): string | undefined {
  const names = new Set(denied.map(normaliseName))
  if (!names.has('group:fs') || names.has('group:files') || names.has('*')) return undefined
  return 'group:fs is read, write, edit and apply_patch only; every tool for files is in group:files.'
}

/** A list of tools with the groups in it replaced by their tools; a group of an area, which lists no names, stays. */
export function expandToolGroups(entries: readonly string[]): string[] {
  const names = entries.map(normaliseName).flatMap((entry) => {
    const members = Object.hasOwn(TOOL_GROUPS, entry) ? TOOL_GROUPS[entry]! : []
    return members.length > 0 ? members : [entry]
  })
  return [...new Set(names)]
}

/** Names in lists are compared without blanks around them and without case. */
export function normaliseName(name: string): string {
  return name.trim().toLowerCase()
}
