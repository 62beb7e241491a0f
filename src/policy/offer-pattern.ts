import type { SourcedRule } from '../core/index.ts'
import type { CommandPart } from '../shell/index.ts'
import type { Policy } from './compile-policy.ts'
import { judgePart } from './judge-part.ts'
import { compileCommandPattern } from './match-command.ts'
import type { PolicyQuestion } from './question.ts'

/** Programs whose first operand says what they do: a pattern names it, too. */
const WITH_COMMANDS = new Set(
  'git npm pnpm yarn bun cargo go docker podman kubectl pip pip3 uv poetry deno dotnet gradle mvn bundle composer gh terraform rake'.split(
    ' ',
  ),
)
/** What deletes, publishes or gives rights is approved call by call. */
const NEVER =
  /^(?:rm|rmdir|unlink|shred|dd|truncate|mkfs\S*|chmod|chown|chgrp|sudo|su|doas|ssh|scp|rsync|curl|wget|kill|pkill|killall|npx|bunx|uvx|pipx)$|^git (?:push|reset|clean|rebase|filter-branch|update-ref|config|checkout|restore)$|^\S+ (?:publish|unpublish|login|exec|x|dlx|delete|destroy|apply)$/
const MAX_WORDS = 3
const PLAIN_WORD = /^[A-Za-z0-9][\w.:@/-]*$/

/** The rule that a remembered pattern stands for: about one tool, or about all of an MCP server. */
export function patternRule(tool: string, pattern: { readonly on: readonly string[] }): SourcedRule {
  const on = [...pattern.on]
  const ofServer = on.every((each) => each.startsWith('mcp:'))
  return {
    rule: { allow: ofServer ? 'remote' : tool, on },
    source: { file: 'grant' },
    base: '/',
    about: ofServer ? ['remote'] : ['exec', 'read:fs', 'write:fs', 'danger:destructive', 'network'],
  }
}

/**
 * Patterns that would let this command line run without an approval from now on, one for each part that is not allowed yet:
 * `npm test *`. None when a part is denied, deletes or publishes, is not known to its last word, or does more than a
 * pattern can say.
 */
export function offerCommandPatterns(policy: Policy, question: PolicyQuestion, target: string): string[] | undefined {
  const reading = question.readings?.get(target)
  if (!reading || reading.doubts.length > 0) return undefined
  const patterns = new Set<string>()
  for (const part of reading.parts) {
    const { effect } = judgePart(policy, question, part)
    if (effect === 'allow') continue
    const pattern = effect === 'ask' ? patternFor(policy, question, part) : undefined
    if (pattern === undefined) return undefined
    patterns.add(pattern)
  }
  return patterns.size === 0 ? undefined : [...patterns]
}

/** The shortest beginning of the part's words that covers it. */
function patternFor(policy: Policy, question: PolicyQuestion, part: CommandPart): string | undefined {
  const { words } = part
  if (words.includes(undefined)) return undefined
  const [program = '', command = ''] = words as readonly string[]
  if (NEVER.test(program) || NEVER.test(`${program} ${command}`)) return undefined
  const fewest = !WITH_COMMANDS.has(program) ? 1 : command === 'run' ? 3 : 2
  for (let count = fewest; count <= Math.min(MAX_WORDS, words.length); count++) {
    const named = words.slice(0, count) as string[]
    if (!named.every((word) => PLAIN_WORD.test(word))) return undefined
    const pattern = `${named.join(' ')} *`
    if ('broken' in compileCommandPattern(pattern)) return undefined
    const tried = policy.withRule(patternRule(question.tool, { on: [pattern] }))
    if (judgePart(tried, question, part).effect === 'allow') return pattern
  }
  return undefined
}
