import type { Capability } from '../define.ts'
import type { Fix } from '../errors.ts'
import type { Rule } from '../rule.ts'
import { type CompiledRule, readSubject, specificityOf } from './compile-rule.ts'
import { targetAsPattern } from './match-target.ts'
import type { Question } from './question.ts'

/** The fix of what is allowed already. */
export const NOTHING_TO_FIX: Fix = Object.freeze({ hint: 'Nothing to change: it is allowed.' })

/** What the owner would write, and where, so that this demand is allowed; honest where no rule can do it. */
export function suggestFix(
  question: Question,
  { capability, target }: { readonly capability?: Capability; readonly target?: string },
  rule: CompiledRule | undefined,
): Fix {
  if (rule?.effect === 'allow') return NOTHING_TO_FIX
  if (rule?.layer === 'always')
    return { hint: `No rule can allow this: ${rule.text} always holds. Use another target.` }
  const isOwners = rule?.layer === 'owner' && !rule.isFallback
  if (isOwners && rule.effect === 'deny') {
    return { key: 'policy', hint: `Remove or narrow ${rule.text}: a deny wins over every allow.` }
  }
  const pattern = capability && target !== undefined ? targetAsPattern(capability, target) : undefined
  if (target !== undefined && pattern === undefined) {
    const enable =
      rule?.effect === 'deny' ? `Add { ask: "${capability}" } to policy in tool-hub.yaml, then approve` : 'Approve'
    return { key: 'policy', hint: `${enable} it when asked: no rule can allow exactly this target.` }
  }
  // A tool that is called like a capability cannot be named: the word means the capability.
  const name = [question.tool, ...question.names].find((known) => readSubject(known, 'allow').kind === 'tool')
  const subjects = [capability, name].filter((known) => known !== undefined)
  const beats = (subject: string) =>
    !isOwners || specificityOf(readSubject(subject, 'allow'), pattern !== undefined) > rule.specificity
  const subject = subjects.find(beats)
  if (subject === undefined) return { key: 'policy', hint: `Change ${rule?.text} to allow: no rule is more specific.` }
  const value: Rule = pattern === undefined ? { allow: subject } : { allow: subject, on: pattern }
  return { key: 'policy', value, hint: `Add ${writeRule(value)} to policy in tool-hub.yaml.` }
}

function writeRule({ allow, on }: Rule): string {
  const parts = [`allow: ${JSON.stringify(allow)}`, ...(on === undefined ? [] : [`on: ${JSON.stringify(on)}`])]
  return `{ ${parts.join(', ')} }`
}
