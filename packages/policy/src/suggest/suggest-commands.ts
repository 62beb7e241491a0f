import type { Rule } from '@tool-hub/core'
import { isApprovedEachTime } from '../decide/index.ts'

/** What an allow rule would name so that a command line runs: one pattern for each part that is not allowed yet. */
export interface CommandNeed {
  /** The capability or the tool that the rule allows. */
  readonly allow: string
  /** The words of each part. */
  readonly on: readonly string[]
}

/** Rules for approved command lines: `rule` for all lines of `needs`, or `exact` for each of them. */
interface CommandRules {
  readonly rule: Rule
  /** In the order of the rules that are tried if `rule` is not safe. */
  readonly exact: readonly Rule[]
}

/** A word after which another one says what runs. */
const RUNS = /^(?:run|run-script|exec|x|dlx|-m|compose)$/

/** Whether a rule may name these commands: what deletes, publishes or gives rights is approved each time. */
export function canSuggest({ on }: CommandNeed): boolean {
  return on.length > 0 && !on.some((pattern) => isApprovedEachTime(pattern.split(' ')))
}

/**
 * Returns rules for these command lines, fewest first. Lines that begin with the same program and command share a rule about
 * their common words; it does not hold in runs that have read content from outside, because it covers more than was seen.
 */
export function commandRules(needs: readonly CommandNeed[]): CommandRules[] {
  const shared = sharedPatterns(needs.flatMap(({ on }) => on))
  const sets = new Map<string, { allow: string; on: string[]; exact: Map<string, Rule> }>()
  for (const { allow, on } of needs) {
    const wide = unique(on.map((pattern) => shared.get(pattern) ?? pattern))
    const key = JSON.stringify([allow, wide])
    const set = sets.get(key) ?? { allow, on: wide, exact: new Map() }
    set.exact.set(JSON.stringify(on), ruleFor(allow, unique(on)))
    sets.set(key, set)
  }
  return [...sets.values()].map(({ allow, on, exact }) => ({ rule: ruleFor(allow, on), exact: [...exact.values()] }))
}

function ruleFor(allow: string, on: readonly string[]): Rule {
  // The folder of a command is not part of a pattern, so what the words run is known only as far as the run can be trusted.
  return { allow, on: on.length === 1 ? on[0]! : on, when: { tainted: false } }
}

/** The pattern that covers a command and others that begin like it, by the exact pattern of each. */
function sharedPatterns(exact: readonly string[]): Map<string, string> {
  const groups = new Map<string, Set<string>>()
  for (const pattern of exact) {
    const stem = stemOf(pattern.split(' '))
    if (stem !== undefined) groups.set(stem, (groups.get(stem) ?? new Set()).add(pattern))
  }
  const shared = new Map<string, string>()
  for (const members of groups.values()) {
    if (members.size < 2) continue
    const open = `${commonWords([...members].map((pattern) => pattern.split(' '))).join(' ')} *`
    for (const member of members) shared.set(member, open)
  }
  return shared
}

/** The words that say what runs: `git tag`, `npm run test`. `undefined` if the words do not say it. */
function stemOf(words: readonly string[]): string | undefined {
  const length = RUNS.test(words[1] ?? '') ? 3 : 2
  const stem = words.slice(0, length)
  return stem.length < length || stem.at(-1)!.startsWith('-') ? undefined : stem.join(' ')
}

/** An option may need the word after it, so the common words end before one. */
function commonWords([first = [], ...others]: readonly (readonly string[])[]): readonly string[] {
  const differs = first.findIndex((word, index) => others.some((other) => other[index] !== word))
  const common = differs === -1 ? [...first] : first.slice(0, differs)
  while (common.at(-1)!.startsWith('-')) common.pop()
  return common
}

function unique(patterns: readonly string[]): string[] {
  return [...new Set(patterns)].sort()
}
