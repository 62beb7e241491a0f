import { join, relative } from 'node:path/posix'
import {
  CAPABILITIES,
  didYouMean,
  groupOf,
  nameFinder,
  type Rule,
  type SourcedRule,
  suggestNames,
} from '@tool-hub/core'
import { pointerKeys } from '@tool-hub/core/lib'
import { SHELLS } from '@tool-hub/shell'
import type { PolicyLayers } from './compile-policy.ts'
import { readSubject } from './compile-rule.ts'
import { describeRule, describeSource, effectOf, subjectOf } from './describe.ts'
import { literalOf, TARGET_KINDS } from './match/index.ts'
import { doubtNarrowGroup, normaliseName, TOOL_GROUPS } from './visibility.ts'

/** A doubt about a rule that compiles. */
export interface PolicyWarning {
  /** `error`: an allow that grants nothing. `warning`: a rule that never decides anything. */
  readonly level: 'error' | 'warning'
  /** What is doubtful about the rule. */
  readonly message: string
  /** `tool-hub.yaml:12`. */
  readonly source: string
  /** What was probably meant, where that can be guessed. */
  readonly hint?: string
}

/** A finding in one text: which rule, what is doubtful, what was probably meant. */
export function describeWarning({ source, message, hint }: PolicyWarning): string {
  const what = message.startsWith(source) ? message : `${source}: ${message}`
  return hint === undefined ? what : `${what} ${hint}`
}

/** The names that rules may use in addition to capabilities and `*`. */
interface KnownSubjects {
  readonly names: Iterable<string>
  /** As rules spell them: `group:fs`. */
  readonly groups: Iterable<string>
  /** How names begin that may still come, such as those of an MCP server that is not connected. */
  readonly arriving?: readonly string[]
  /** No warnings about names that may still come. Default: false. */
  readonly onlyCertain?: boolean
  /** The real paths of the folders that tools can use, `sandbox.root` first. Default: unknown, so no path is checked. */
  readonly roots?: readonly string[]
  /** The arguments of a tool by any of its names; `undefined` if it takes others, too, or the tool does not exist. */
  readonly argumentsOf?: (name: string) => readonly string[] | undefined
}

/** Looks for rules of the owner that cannot mean what was meant: unknown subjects, and rules that a broader deny shadows. */
export function checkPolicy({ always = [], owner = [] }: PolicyLayers, known: KnownSubjects): PolicyWarning[] {
  const subjects = new Set(['*', ...CAPABILITIES, ...Object.keys(TOOL_GROUPS), ...known.names, ...known.groups])
  const folded = new Set([...subjects].map(normaliseName))
  const nearest = nameFinder(subjects)
  const denies = indexDenies(
    [...always, ...owner].filter(({ rule, fallback }) => effectOf(rule) === 'deny' && !fallback),
  )
  const narrowed = owner.filter(({ rule }) => effectOf(rule) !== 'allow').map(({ rule }) => subjectOf(rule))
  const doubt = doubtNarrowGroup(narrowed)
  return owner.flatMap((sourced) => [
    ...(doubt === undefined ? [] : checkNarrowGroup(sourced, doubt)),
    ...checkSubject(sourced, { ...known, subjects, folded, nearest }),
    ...checkArguments(sourced, known.argumentsOf),
    ...checkShadow(sourced, denies),
    ...checkCommands(sourced),
    ...checkPathRule(sourced, known.roots),
    ...checkRemoteRule(sourced),
  ])
}

function checkNarrowGroup({ rule, source }: SourcedRule, doubt: string): PolicyWarning[] {
  if (effectOf(rule) === 'allow' || normaliseName(subjectOf(rule)) !== 'group:fs') return []
  return [{ level: 'warning', message: `${effectOf(rule)} group:fs: ${doubt}`, source: describeSource(source) }]
}

function checkSubject(
  { rule, source }: SourcedRule,
  { subjects, folded, nearest, arriving = [], onlyCertain }: KnownNames,
): PolicyWarning[] {
  const subject = subjectOf(rule)
  const effect = effectOf(rule)
  const { kind, name, matches } = readSubject(subject, effect)
  if (matches !== undefined && [...subjects].some(matches)) return []
  if ((effect === 'allow' && kind !== 'group' ? subjects : folded).has(name)) return []
  const prefix = arriving.find((each) => name.startsWith(each))
  if (prefix !== undefined && onlyCertain) return []
  if (prefix !== undefined) return [unchecked(`${effect} ${subject}`, prefix, describeSource(source))]
  const what = kind === 'group' ? 'group' : 'tool'
  const outcome = effect === 'allow' ? 'it grants nothing' : `it will ${effect} nothing`
  return [
    {
      level: effect === 'allow' ? 'error' : 'warning',
      message: `${effect} ${subject}: no ${what} has this name, so ${outcome}.`,
      source: describeSource(source),
      hint: suggestNames(nearest(subject)) || 'List the names with tool-hub list.',
    },
  ]
}

/** An argument that the tool does not have: an allow never matches then, and what restricts never holds. */
function checkArguments({ rule, source }: SourcedRule, argumentsOf: KnownSubjects['argumentsOf']): PolicyWarning[] {
  const subject = subjectOf(rule)
  const known = rule.where && argumentsOf?.(subject)
  if (known === undefined) return []
  return Object.keys(rule.where ?? {}).flatMap((name) => {
    const [argument = ''] = name.startsWith('/') ? pointerKeys(name) : [name]
    if (known.includes(argument)) return []
    const effect = effectOf(rule)
    return {
      level: effect === 'allow' ? 'error' : 'warning',
      message: `${effect} ${subject} where ${name}: ${subject} has no argument ${argument}, so this rule can never match.`,
      source: describeSource(source),
      hint: didYouMean(argument, known) || `Its arguments: ${known.join(', ') || 'none'}.`,
    }
  })
}

interface KnownNames extends Pick<KnownSubjects, 'arriving' | 'onlyCertain'> {
  readonly subjects: ReadonlySet<string>
  readonly folded: ReadonlySet<string>
  readonly nearest: (subject: string) => string[]
}

/** The source of the tool is not loaded, or has no such tool: the check cannot know which. */
function unchecked(rule: string, prefix: string, source: string): PolicyWarning {
  const isAll = rule.endsWith('*')
  return {
    level: 'warning',
    message: `${rule}: this tool does not exist now; what begins with ${prefix} comes from elsewhere.`,
    source,
    hint: isAll
      ? 'For all tools of an MCP server: { allow: remote, on: "mcp:SERVER/*" }.'
      : 'See whether it is there: tool-hub mcp test.',
  }
}

/** No allow covers a program by its path, or a shell with a script: what they run is only known when it runs. */
function checkCommands({ rule, source }: SourcedRule): PolicyWarning[] {
  if (effectOf(rule) !== 'allow' || subjectOf(rule) !== 'exec') return []
  return [rule.on ?? []].flat().flatMap((pattern) => {
    const [name = '', ...rest] = pattern.trim().split(/[ \t]+/)
    const isScript = SHELLS.has(name) && !rest.some((word) => word.startsWith('-'))
    if (!name.includes('/') && !isScript) return []
    const why = isScript ? 'what a shell runs is judged by itself' : 'a program by its path could be any program'
    return {
      level: 'warning',
      message: `allow exec on ${pattern} allows nothing unasked: ${why}.`,
      source: describeSource(source),
      hint: 'Allow a program by its name, or leave the pattern out and approve the command when asked.',
    }
  })
}

/**
 * A path that starts at the folder of the rules although tools start at `sandbox.root`, which is below that folder: no file
 * that tools can use is there. Absolute paths are not checked, because they may protect what nobody grants now.
 */
function checkPathRule(
  { rule, source, base }: SourcedRule,
  [root, ...others]: readonly string[] = [],
): PolicyWarning[] {
  const isAboutPaths = CAPABILITIES.some((name) => name === subjectOf(rule) && TARGET_KINDS[name] === 'path')
  if (!isAboutPaths || root === undefined || !isBelow(root, base)) return []
  return [rule.on ?? []].flat().flatMap((pattern) => {
    if (/^(?:[/~]|\*\*(?:\/|$))/.test(pattern) || [root, ...others].some((each) => couldBeBelow(pattern, base, each)))
      return []
    const plain = pattern.replace(/^(?:\.\/)+/, '')
    return {
      level: 'warning',
      message: `${effectOf(rule)} ${subjectOf(rule)} on ${pattern} matches nothing below sandbox.root: it means ${join(base, plain)}, and the root is ${root}.`,
      source: describeSource(source),
      hint: `Did you mean ./${relative(base, join(root, plain))}? Paths in rules start at ${base}.`,
    }
  })
}

/** The targets of `remote` have two parts, and a `*` covers one: `client:*` matches none of them. */
function checkRemoteRule({ rule, source }: SourcedRule): PolicyWarning[] {
  if (subjectOf(rule) !== 'remote') return []
  return [rule.on ?? []].flat().flatMap((pattern) => {
    // A tool of your own may have other targets, and what varies may cover a slash.
    if (!/^(?:client|mcp):[^/[{\\]*$/.test(pattern) || pattern.includes('**')) return []
    return {
      level: 'warning',
      message: `${effectOf(rule)} remote on ${pattern} matches no tool: the targets are client:NAME/TOOL and mcp:SERVER/TOOL, and * does not cover the slash.`,
      source: describeSource(source),
      hint: `Did you mean ${pattern}/*?`,
    }
  })
}

/** Whether the plain folders that a pattern begins with are on the way to a folder, or in it. In doubt they are. */
function couldBeBelow(pattern: string, base: string, folder: string): boolean {
  const wanted = foldersOf(folder)
  for (const [at, segment] of foldersOf(join(base, pattern)).entries()) {
    const other = wanted[at]
    if (other === undefined || literalOf(segment) === undefined) return true
    if (literalOf(segment) !== other) return false
  }
  return true
}

function foldersOf(path: string): string[] {
  return path.split('/').filter(Boolean)
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? folder : `${folder}/`)
}

/** Denies with their order, by what they are about: a rule is compared with few of many. */
type DenyIndex = ReadonlyMap<string, readonly { readonly deny: SourcedRule; readonly order: number }[]>

function indexDenies(denies: readonly SourcedRule[]): DenyIndex {
  const index = new Map<string, { deny: SourcedRule; order: number }[]>()
  for (const [order, deny] of denies.entries()) {
    const { name } = readSubject(subjectOf(deny.rule), 'deny')
    for (const pattern of deny.rule.on === undefined ? [undefined] : [deny.rule.on].flat()) {
      const key = denyKey(name, pattern)
      const same = index.get(key)
      if (same === undefined) index.set(key, [{ deny, order }])
      else same.push({ deny, order })
    }
  }
  return index
}

function denyKey(subject: string, pattern: string | undefined): string {
  return pattern === undefined ? subject : `${subject} on ${pattern}`
}

function checkShadow(sourced: SourcedRule, denies: DenyIndex): PolicyWarning[] {
  if (effectOf(sourced.rule) === 'deny') return []
  const [first] = [sourced.rule.on ?? []].flat()
  const [broader] = broaderSubjects(sourced.rule)
    .flatMap((subject) => (first === undefined ? [subject] : [subject, denyKey(subject, first)]))
    .flatMap((key) => denies.get(key)?.find(({ deny }) => covers(deny, sourced)) ?? [])
    .sort((a, b) => a.order - b.order)
  if (broader === undefined) return []
  return [
    {
      level: 'warning',
      message: `${describeRule(sourced)} never decides: ${describeRule(broader.deny)} covers all of it, and a deny wins.`,
      source: describeSource(sourced.source),
      hint: 'Remove one of the two, or narrow the deny with on, except or when.',
    },
  ]
}

/** The subjects that a deny may have to cover a rule. */
function broaderSubjects(rule: Rule): string[] {
  const { kind, name } = readSubject(subjectOf(rule), effectOf(rule))
  const own = ['*', normaliseName(name)]
  return kind === 'tool' ? [...own, normaliseName(`group:${groupOf(name)}`)] : own
}

/** Whether a deny of a broader subject holds wherever the rule would; false in doubt, so that no warning is wrong. */
function covers(deny: SourcedRule, { rule, base }: SourcedRule): boolean {
  if (deny.rule.except !== undefined || deny.rule.where !== undefined || deny.about !== undefined) return false
  const { tainted, caller } = deny.rule.when ?? {}
  if (tainted !== undefined && tainted !== rule.when?.tainted) return false
  if (caller !== undefined && caller !== rule.when?.caller) return false
  if (deny.rule.on === undefined) return true
  const denied = new Set([deny.rule.on].flat())
  return rule.on !== undefined && deny.base === base && [rule.on].flat().every((pattern) => denied.has(pattern))
}
