import { didYouMean, groupOf, ToolError, type Visibility } from '@tool-hub/core'
import { deepFreeze } from '@tool-hub/core/lib'

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

const VISIBLE: ToolVisibility = Object.freeze({ visible: true })

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

/** What a tool begins, and the tool that continues it. */
const CONTINUED_BY = [
  ['core/code.run', 'core/code.wait', 'a script that waits for an approval'],
  ['core/exec.run', 'core/exec.process', 'a command that runs in the background'],
] as const

/** What an agent could begin and not continue, because its owner shows one tool and hides another that exists. */
export function doubtHiddenPartners(isVisible: (name: string) => boolean | undefined): string[] {
  return CONTINUED_BY.filter(([name, partner]) => isVisible(name) && isVisible(partner) === false).map(
    ([name, partner, what]) =>
      `${name} is visible and ${partner} is not: an agent can begin ${what}, but not continue it.`,
  )
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

/** Whether an agent sees a tool; if not, what hides it. */
export type ToolVisibility = { readonly visible: true } | { readonly visible: false; readonly why: string }

/** An entry of `tools.allow` or `tools.deny` that no tool answers to. */
interface UnknownEntry {
  readonly list: 'allow' | 'also' | 'deny'
  readonly entry: string
  /** An unknown allow shows nothing, an unknown deny hides nothing: the second may be a tool not loaded today. */
  readonly level: 'error' | 'warning'
  readonly message: string
}

/**
 * Compiles which tools are shown to a model without a search: those that the profile and `also` name, and those in `pin`.
 * The profile `full` names none.
 */
export function compilePins(
  { profile = 'full', also = [] }: Pick<Visibility, 'profile' | 'also'>,
  pin: readonly string[],
): (tool: ToolNames) => boolean {
  const ofProfile = profile === 'full' ? [] : (PROFILES.get(profile) ?? [])
  const pinned = new Set([...ofProfile, ...also, ...pin].map(normaliseName))
  return (tool) => keysOf(tool).some((key) => pinned.has(key))
}

/**
 * Compiles `tools: { profile, allow, also, deny }`: deny wins, then also shows a tool; otherwise a non-empty allow is
 * exclusive, and a profile limits built-in tools.
 */
export function compileVisibility({
  profile = 'full',
  allow = [],
  also = [],
  deny = [],
}: Visibility): (tool: ToolNames) => ToolVisibility {
  const shown = PROFILES.get(profile)
  if (shown === undefined) {
    throw new ToolError('CONFIG_INVALID', `Unknown profile ${JSON.stringify(profile)}.`, {
      hint: `${didYouMean(String(profile), PROFILES.keys())} Profiles: ${[...PROFILES.keys()].join(', ')}.`.trim(),
    })
  }
  const allowed = new Set(allow.map(normaliseName))
  const added = new Set(also.map(normaliseName))
  const denied = new Set(deny.map(normaliseName))
  const inProfile = new Set(shown)

  return (tool) => {
    const answersTo = keysOf(tool)
    const hiddenBy = answersTo.find((key) => denied.has(key))
    if (hiddenBy !== undefined) return hidden(`tools.deny has ${hiddenBy}`)
    if (answersTo.some((key) => added.has(key))) return VISIBLE
    if (allowed.size > 0 && !answersTo.some((key) => allowed.has(key))) {
      return hidden(`tools.allow names neither the tool nor a group of it; tools.also: [${tool.name}] adds it`)
    }
    const isBuiltIn = tool.name.startsWith('core/')
    if (isBuiltIn && !answersTo.some((key) => inProfile.has(key)))
      return hidden(`profile ${profile} shows only ${shown.join(', ')}; tools.also: [${tool.name}] adds it`)
    return VISIBLE
  }
}

/** Which tools are visible, by names and groups. */
export type ToolPolicy = Pick<Visibility, 'allow' | 'deny'>

/** Whether the lists show a tool of this name; groups are expanded in both lists. */
export function isToolAllowedByPolicy(toolName: string, { allow, deny }: ToolPolicy): boolean {
  const name = toolName.trim()
  return compileVisibility({ allow, deny })({ name, names: [] }).visible
}

/** Entries of allow, also and deny that no known tool or group answers to. */
export function unknownVisibilityEntries(
  { allow = [], also = [], deny = [] }: Visibility,
  known: {
    readonly names: Iterable<string>
    readonly groups: Iterable<string>
    /** How names begin that may still come. */
    readonly arriving?: readonly string[]
  },
): UnknownEntry[] {
  const candidates = new Set(['*', ...known.names, ...known.groups, ...Object.keys(TOOL_GROUPS)])
  const normal = new Set([...candidates].map(normaliseName))
  const unknown = (list: UnknownEntry['list'], entries: readonly string[]) =>
    entries
      .filter((entry) => !normal.has(normaliseName(entry)) && !known.arriving?.some((each) => entry.startsWith(each)))
      .map((entry): UnknownEntry => {
        const effect = list === 'deny' ? 'it hides nothing' : 'it shows nothing'
        const message = `tools.${list} has ${JSON.stringify(entry)}, which no tool or group is called: ${effect}. ${didYouMean(entry, candidates)}`
        return { list, entry, level: list === 'deny' ? 'warning' : 'error', message: message.trim() }
      })
  return [...unknown('allow', allow), ...unknown('also', also), ...unknown('deny', deny)]
}

/** The dialect of a profile; `undefined` for `full`, which uses the canonical names. */
export function dialectOf({ profile = 'full' }: Visibility): string | undefined {
  return profile === 'full' ? undefined : 'coding'
}

function keysOf(tool: ToolNames): string[] {
  return [...new Set([tool.name, ...tool.names].map(normaliseName)), ...groupsOf(tool), '*']
}

function hidden(why: string): ToolVisibility {
  return { visible: false, why: `${why}.` }
}
