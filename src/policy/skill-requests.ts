import type { SkillRequest } from '../core/rule.ts'
import type { PolicyQuestion } from './question.ts'

/** What skills asked for that touches a call, a line each; information, never a grant. */
export function requestsFor(requests: readonly SkillRequest[], question: PolicyQuestion): string[] {
  return requests
    .filter((request) => touches(request, question))
    .map(({ skill, wants, reason }) => {
      return `skill ${skill} requests ${wants.join(', ')}${reason === undefined ? '' : `: ${reason}`}`
    })
}

function touches({ wants }: SkillRequest, { tool, names, groups, capabilities }: PolicyQuestion): boolean {
  const known = ['*', tool, ...names, ...groups, ...capabilities]
  return wants.some((want) => known.includes(want))
}
