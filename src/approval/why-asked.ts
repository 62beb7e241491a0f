import type { ApprovalRequest } from '../result.ts'
import { withoutDoubtDetails } from '../value/doubt-details.ts'

/** Why a call needs an approval, as its caller may read it, who can be a model: the reason, and the rule once. */
export function whyAsked({ reason, rule }: Pick<ApprovalRequest, 'reason' | 'rule'>): string {
  // A rule without a reason of its own names only itself.
  const why = withoutDoubtDetails(reason).replaceAll(`Needs an approval by ${rule}.`, () => `${rule}.`)
  return why.includes(rule) ? why : `${why} (${rule})`
}
