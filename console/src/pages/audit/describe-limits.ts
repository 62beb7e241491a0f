import type { TokenEntry } from '../../api/types.ts'
import { formatBytes } from '../../components/format-bytes.ts'
import { formatDuration } from '../../components/format-duration.ts'

type Limits = Pick<TokenEntry, 'profile' | 'policy' | 'budget' | 'roots' | 'rate' | 'allowDanger'>

/** What a token is held to, in a line. */
export function describeLimits({ profile, policy = [], budget = {}, roots = [], rate, allowDanger }: Limits): string {
  const { calls, wallMs, bytes, cost } = budget
  const words = [
    profile !== undefined && `profile ${profile}`,
    calls !== undefined && `${calls.toLocaleString('en')} calls a day`,
    wallMs !== undefined && `${formatDuration(wallMs)} a day`,
    bytes !== undefined && `${formatBytes(bytes)} a day`,
    cost !== undefined && `cost ${cost.toLocaleString('en')} a day`,
    rate !== undefined && `${rate.perSecond.toLocaleString('en')} requests a second`,
    policy.length > 0 && (policy.length === 1 ? '1 rule of its own' : `${policy.length} rules of its own`),
    roots.length > 0 && roots.map(({ path, mode }) => (mode === 'read' ? `${path} (read)` : path)).join(', '),
    allowDanger === true && 'commands and destruction as the rules say',
  ].filter((word) => word !== false)
  return words.length === 0 ? 'none of its own' : words.join('; ')
}
