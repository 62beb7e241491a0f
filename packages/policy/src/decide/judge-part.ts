import type { SourcedRule } from '@tool-hub/core'
import { type CommandPart, type Doubt, isSevere } from '@tool-hub/shell'
import type { Policy, RuleIndex } from '../compile-policy.ts'
import type { CompiledRule } from '../compile-rule.ts'
import { NO_CONSTRAINTS } from '../constraints.ts'
import { couldName, inWorstCase, type PolicyTarget, readPatternPart, readTarget, SHAPE } from '../match/index.ts'
import { type PolicyQuestion, STRICTNESS } from '../question.ts'
import { findRules, type Judgement, judgeDemand } from './judge.ts'

/** What the rules say about one part of a command line. */
export interface JudgedPart extends Judgement {
  readonly part: CommandPart
  /** Why the allow that matches it does not cover it. */
  readonly doubt?: string
}

/** Commands that delete, publish or give rights are approved call by call: no pattern is offered. */
const NEVER =
  /^(?:rm|rmdir|unlink|shred|dd|truncate|mkfs\S*|chmod|chown|chgrp|sudo|su|doas|ssh|scp|rsync|curl|wget|kill|pkill|killall|npx|bunx|uvx|pipx)$|^git (?:push|reset|clean|rebase|filter-branch|update-ref|config|checkout|restore)$|^\S+ (?:publish|unpublish|login|exec|x|dlx|delete|destroy|apply)$/
/** More than a person reads to the end. */
const MAX_SHAPE_LENGTH = 200

/** An allow covers a part only as far as its words say what runs; a deny or an ask holds as it is. */
export function judgePart(policy: Policy, question: PolicyQuestion, part: CommandPart): JudgedPart {
  const target = readPatternPart(part)
  const judgement = judgeDemand(policy, question, { capability: 'exec', target })
  const { effect, rule } = judgement
  if (effect !== 'allow' || rule === undefined) return { ...judgement, part }
  const doubt = uncovered(policy, question, part, target, rule) ?? deniedFile(policy, question, part, rule)
  const other = restrictedInWorstCase(policy, question, part, target, rule)
  if (other !== undefined && part.doubts.length > 0 && isException(other, target)) {
    // Everything but some commands is denied, and this is none of those as they are meant.
    return { effect: 'deny', rule: other, constraints: NO_CONSTRAINTS, part }
  }
  if (doubt !== undefined) return { ...judgement, effect: 'ask', part, doubt }
  if (other !== undefined)
    return { ...judgement, effect: 'ask', part, doubt: `it could be what ${other.text} is about` }
  const carried = restrictedCarried(policy, question, part, target, rule)
  return carried === undefined ? { ...judgement, part } : { ...judgement, effect: 'ask', part, doubt: carried }
}

/** Why an unknown program needs an approval: it may run the words that follow it, and a rule is about those. */
function restrictedCarried(
  policy: Policy,
  question: PolicyQuestion,
  { carried = [], words }: CommandPart,
  whole: PolicyTarget,
  rule: CompiledRule,
): string | undefined {
  if (!policy.restrictsCommands) return undefined
  for (const { at, part } of carried) {
    // Who writes `mytool curl *` means that curl.
    if (isSpeltOut({ at }, whole, rule)) continue
    const named = restrictionOn(policy, question, part, rule)
    if (named !== undefined) return `${words[0]} may run \`${part.text}\`, which is what ${named.text} is about`
    if (runsHiddenText(part)) return `${words[0]} may run \`${part.text}\`, and what that runs is only known then`
  }
  return undefined
}

/** The rule with a pattern that restricts a command, or could. */
function restrictionOn(
  policy: Policy,
  question: PolicyQuestion,
  part: CommandPart,
  outer: CompiledRule,
): CompiledRule | undefined {
  const target = readPatternPart(part)
  if (outer.except?.get('command')?.some((pattern) => pattern.matches(target, true))) return outer
  const { effect, rule } = judgeDemand(policy, question, { capability: 'exec', target })
  if (effect === 'allow') return restrictedInWorstCase(policy, question, part, target, rule ?? outer)
  return rule?.on?.has('command') ? rule : undefined
}

/** A shell or an interpreter with code or a file to run, and not the name of one among other words. */
function runsHiddenText({ words, doubts }: CommandPart): boolean {
  const [, next = ''] = words
  return /^-|\/|\.[a-z]\w*$/i.test(next) && doubts.some(({ kind, at }) => kind === 'hidden' && at !== 0)
}

function isException({ effect, except }: CompiledRule, target: PolicyTarget): boolean {
  return effect === 'deny' && (except?.get('command')?.some((pattern) => pattern.matches(target, false)) ?? false)
}

/** An allow of all commands also covers what a command reaches, and what it hides unless some commands are restricted. */
function uncovered(
  policy: Policy,
  question: PolicyQuestion,
  { doubts }: CommandPart,
  target: PolicyTarget,
  rule: CompiledRule,
): string | undefined {
  const certain = doubts.find(({ kind }) => kind === 'unread' || kind === 'refused')
  if (certain) return certain.reason
  if (rule.on === undefined)
    return policy.restrictsCommands ? doubts.find(({ kind }) => kind === 'hidden')?.reason : undefined
  if (doubts.length === 0) return undefined
  const rules = equalsOf(policy, question, target, rule)
  return doubts.find((doubt) => !rules.some((each) => isSpeltOut(doubt, target, each)))?.reason
}

/** All equally specific rules that allow it: the order in which they are written does not count. */
function equalsOf(
  { levels }: Policy,
  question: PolicyQuestion,
  target: PolicyTarget,
  rule: CompiledRule,
): CompiledRule[] {
  const equals = new Set([rule])
  for (const level of levels) {
    const found = findRules(level, question, { capability: 'exec', target })
    if (!found.includes(rule)) continue
    for (const each of found) if (each.effect === 'allow' && each.specificity === rule.specificity) equals.add(each)
  }
  return [...equals]
}

/** Who writes `git push *` means the push. */
function isSpeltOut({ at }: Pick<Doubt, 'at'>, target: PolicyTarget, { on }: CompiledRule): boolean {
  if (at === undefined) return false
  const patterns = on?.get('command') ?? []
  if (at >= (target.command?.words.length ?? 0)) return false
  return patterns.some((pattern) => (pattern.words ?? 0) > at && pattern.matches(target, false))
}

/** A command that reads a file which tools may not read, or changes one that they may not write, needs an approval. */
function deniedFile(
  policy: Policy,
  question: PolicyQuestion,
  part: CommandPart,
  rule: CompiledRule,
): string | undefined {
  if (rule.on === undefined) return undefined
  const kept = findKeptFile(policy, question, part)
  if (kept) return `it uses ${kept.path}, which tools may not read: ${kept.rule.text}`
  const closed = part.isWriting ? findDenied(policy, question, part.paths, 'write:fs') : undefined
  return closed && `it may change ${closed.path}, which tools may not write: ${closed.rule.text}`
}

/** The first file of a command that tools may not read, and the rule that denies it. */
export function findKeptFile(
  policy: Policy,
  question: PolicyQuestion,
  { paths, globs = [] }: CommandPart,
): { readonly path: string; readonly rule: CompiledRule } | undefined {
  const denied = findDenied(policy, question, paths, 'read:fs')
  if (denied) return denied
  for (const path of globs) {
    const kept = deniedGlobs(policy).find(({ glob }) => couldName(path, glob))
    if (kept) return { path, rule: kept.rule }
  }
  return undefined
}

/** The first of some files that rules deny to every tool. */
function findDenied(
  policy: Policy,
  question: PolicyQuestion,
  paths: readonly string[],
  capability: FileCapability,
): { readonly path: string; readonly rule: CompiledRule } | undefined {
  for (const path of paths) {
    const target = readTarget('path', path)
    const rule = policy.levels
      .map((level) => findFileRule(level, question, target, capability))
      .find((found) => found !== undefined)
    if (rule?.effect === 'deny') return { path, rule }
  }
  return undefined
}

type FileCapability = 'read:fs' | 'write:fs'

interface DeniedGlob {
  readonly glob: string
  readonly rule: CompiledRule
}

const deniedByPolicy = new WeakMap<Policy, readonly DeniedGlob[]>()

/** Every glob of files that a rule denies to read, whichever tool reads. */
function deniedGlobs(policy: Policy): readonly DeniedGlob[] {
  const known = deniedByPolicy.get(policy)
  if (known) return known
  const indexes = policy.levels.flatMap((level) => (level.also ? [level, level.also] : level))
  const buckets = indexes.flatMap(({ everything, capabilities }) => [everything, capabilities.get('read:fs')])
  const filed = buckets.flatMap((bucket) => [...(bucket?.targeted.get('path')?.values() ?? [])].flat())
  const denied = filed.flatMap(({ rule, pattern: { glob } }) =>
    rule.effect === 'deny' && glob !== undefined ? { glob, rule } : [],
  )
  deniedByPolicy.set(policy, denied)
  return denied
}

/** A doubt as sentences: what the part does, and which rule does not cover it. */
export function describeDoubt(doubt: string, rule: CompiledRule): string {
  return `${doubt}. The rule ${rule.text} does not cover that, so a person decides.`
}

/** The strictest rule that is about reading or writing this file, and not about the tool that runs commands. */
function findFileRule(
  level: RuleIndex,
  question: PolicyQuestion,
  target: PolicyTarget,
  capability: FileCapability,
): CompiledRule | undefined {
  let found: CompiledRule | undefined
  for (const rule of findRules(level, question, { capability, target })) {
    if (rule.on === undefined && rule.subject.name !== capability) continue
    if (found === undefined || STRICTNESS[rule.effect] > STRICTNESS[found.effect]) found = rule
  }
  return found
}

/** A rule that does not match the known words, but could match what they become at run time. */
function restrictedInWorstCase(
  policy: Policy,
  question: PolicyQuestion,
  { words, doubts }: CommandPart,
  target: PolicyTarget,
  deciding: CompiledRule,
): CompiledRule | undefined {
  if (!policy.restrictsCommands || (doubts.length === 0 && !words.includes(undefined))) return undefined
  const worst = inWorstCase(target)
  if (deciding.except?.get('command')?.some((pattern) => pattern.matches(worst, true))) return deciding
  for (const level of policy.levels) {
    const matching = new Set(findRules(level, question, { capability: 'exec', target }))
    const other = findRules(level, question, { capability: 'exec', target: worst }).find(
      (rule) => rule.effect !== 'allow' && !matching.has(rule),
    )
    if (other !== undefined || matching.has(deciding)) return other
  }
  return undefined
}

/** The rule that a remembered pattern stands for: about commands, about one tool, or about all of an MCP server. */
export function patternRule(tool: string, pattern: { readonly on: readonly string[] }): SourcedRule {
  const on = [...pattern.on]
  const ofServer = on.every((each) => each.startsWith('mcp:'))
  const ofCommands = on.every((each) => each.startsWith(SHAPE))
  return {
    rule: { allow: ofServer ? 'remote' : tool, on },
    source: { file: 'grant' },
    base: '/',
    // A pattern of commands from before shapes, `npm test *`, covers none: it would cover more than was seen.
    about: ofServer ? ['remote'] : ofCommands ? ['exec'] : ['read:fs', 'write:fs', 'danger:destructive', 'network'],
  }
}

/** The parts of a command line that need an approval. */
export function askedParts(policy: Policy, question: PolicyQuestion, target: string): readonly CommandPart[] {
  const { parts = [] } = question.readings?.get(target) ?? {}
  return parts.filter((part) => judgePart(policy, question, part).effect !== 'allow')
}

/**
 * Patterns that would let this command line run without an approval from now on, one for each part that is not allowed yet:
 * its words as they are, with other files or another message where it has some. None when a part is denied, deletes or
 * publishes, is not known to its last word, or does more than a pattern can say.
 */
export function offerCommandPatterns(policy: Policy, question: PolicyQuestion, target: string): string[] | undefined {
  const reading = question.readings?.get(target)
  if (!reading || reading.doubts.length > 0) return undefined
  const patterns = new Set<string>()
  for (const part of askedParts(policy, question, target)) {
    const pattern = patternFor(policy, question, part)
    if (pattern === undefined) return undefined
    patterns.add(pattern)
  }
  return patterns.size === 0 ? undefined : [...patterns]
}

/** The patterns of commands in words: what may differ, and that nothing else may. */
export function describeCommandPatterns(on: readonly string[]): string {
  const shapes = on.map((pattern) => pattern.slice(SHAPE.length))
  const named = shapes.map((shape) =>
    shape.replaceAll('<files>', '<any files in the roots>').replaceAll('<text>', '<any text>'),
  )
  return `${named.join(', ')} (these words and no others)`
}

/** Whether no pattern is offered for a command, whatever its other words are. */
export function isApprovedEachTime([program = '', command = '']: readonly (string | undefined)[]): boolean {
  return NEVER.test(program) || NEVER.test(`${program} ${command}`)
}

function patternFor(policy: Policy, question: PolicyQuestion, part: CommandPart): string | undefined {
  const { words, shape, risks = [] } = part
  if (shape === undefined || shape.length > MAX_SHAPE_LENGTH || risks.some(isSevere)) return undefined
  if (isApprovedEachTime(words)) return undefined
  const pattern = `${SHAPE}${shape}`
  const tried = policy.withRule(patternRule(question.tool, { on: [pattern] }))
  return judgePart(tried, question, part).effect === 'allow' ? pattern : undefined
}
