import {
  Ban,
  CircleCheck,
  CircleSlash,
  CircleX,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  TimerOff,
  Unplug,
} from 'lucide-react'
import { Badge, type Tone } from './badge.tsx'

/** Words, tone and icon of every state. */
export const STATUSES = new Map<string, readonly [words: string, tone: Tone, icon: LucideIcon]>([
  ['ok', ['ok', 'ok', CircleCheck]],
  ['running', ['running', 'info', LoaderCircle]],
  ['pending', ['pending', 'info', Hourglass]],
  ['waiting', ['waiting', 'warn', Hourglass]],
  ['approval_required', ['needs approval', 'warn', Hourglass]],
  ['answered', ['answered', 'ok', CircleCheck]],
  ['withdrawn', ['withdrawn', 'quiet', CircleSlash]],
  ['expired', ['expired', 'quiet', TimerOff]],
  ['error', ['error', 'bad', CircleX]],
  ['denied', ['denied', 'bad', Ban]],
  ['timeout', ['timed out', 'bad', TimerOff]],
  ['aborted', ['aborted', 'quiet', CircleSlash]],
  ['interrupted', ['interrupted', 'warn', Unplug]],
])

/** The state of a call, an approval or a question. */
export function StatusBadge({ status }: { status: string }) {
  const [words, tone, icon] = STATUSES.get(status) ?? [status, 'quiet' as const, undefined]
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  )
}
