import { escapeLine } from '../lib/escape-text.ts'
import type { CommandPart } from '../shell/reading.ts'
import { RISKS, type Risk, rankOf } from '../shell/risk.ts'
import type { Policy } from './compile-policy.ts'
import { findKeptFile, type JudgedPart } from './judge-part.ts'
import type { PolicyQuestion } from './question.ts'
import { STRICTNESS } from './strictness.ts'

/** A danger of a command in words, to be read after "it": "deletes files". */
export interface CommandRisk {
  readonly risk: Risk
  readonly words: string
}

/** What people should know of one part of a command line, the most dangerous first. */
export function risksOfPart(policy: Policy, question: PolicyQuestion, part: CommandPart): CommandRisk[] {
  const known = (part.risks ?? []).map((risk) => ({ risk, words: RISKS[risk] }))
  const kept = part.risks?.includes('deletes') ? undefined : findKeptFile(policy, question, part)
  if (kept === undefined) return known
  const name = escapeLine(kept.path.slice(kept.path.lastIndexOf('/') + 1))
  const words = kept.rule.layer === 'always' ? RISKS.secrets : 'reads a file that tools may not read'
  const secret = { risk: 'secrets', words: `${words} (${name})` } as const
  return [secret, ...known].sort((a, b) => rankOf(a.risk) - rankOf(b.risk))
}

/** The part that decides: of the strictest the most dangerous, of those the first. */
export function findDeciding(policy: Policy, question: PolicyQuestion, judged: readonly JudgedPart[]): JudgedPart {
  const most = Math.max(...judged.map(({ effect }) => STRICTNESS[effect]))
  const strictest = judged.filter(({ effect }) => STRICTNESS[effect] === most)
  if (strictest.length === 1 || most === 0) return strictest[0]!
  const ranks = strictest.map(({ part }) => rankOf(risksOfPart(policy, question, part)[0]?.risk))
  return strictest[ranks.indexOf(Math.min(...ranks))]!
}
