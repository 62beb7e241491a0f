import {
  Ban,
  Check,
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  Hand,
  Hourglass,
  Info,
  LoaderCircle,
  type LucideIcon,
  Minus,
  TimerOff,
  TriangleAlert,
  Unplug,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from '../lib/class-names.ts'
import styles from './badge.module.css'

/** The meaning of a color; every tone also has an icon. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet'

const ICONS: Record<Tone, LucideIcon> = {
  ok: CircleCheck,
  warn: TriangleAlert,
  bad: CircleX,
  info: Info,
  quiet: Minus,
}

interface BadgeProps {
  readonly tone?: Tone
  readonly icon?: LucideIcon
  /** A sentence, which may take several lines; a word stays on one. */
  readonly wraps?: boolean
  readonly children: ReactNode
}

/** A state as a word with an icon, so that it does not depend on color alone. */
export function Badge({ tone = 'quiet', icon, wraps = false, children }: BadgeProps) {
  const Icon = icon ?? ICONS[tone]
  return (
    <span className={classNames(styles.badge, styles[tone], wraps && styles.wraps)} data-tone={tone}>
      <Icon size={12} strokeWidth={2.25} aria-hidden="true" />
      {children}
    </span>
  )
}

/** The label, tone and icon of each state. */
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

/** The state of a call as an icon, with its label for screen readers. */
export function StatusIcon({ status }: { status: string }) {
  const [words, tone, Icon = CircleDashed] = STATUSES.get(status) ?? [status, 'quiet' as const, CircleDashed]
  return (
    <span className={styles.colored} data-tone={tone} title={words}>
      <Icon size={14} strokeWidth={2.25} aria-hidden="true" />
      <span className="visually-hidden">{words}</span>
    </span>
  )
}

/** The decision of the policy: allow, ask or deny. */
export function EffectBadge({ effect }: { effect: 'allow' | 'ask' | 'deny' }) {
  if (effect === 'allow')
    return (
      <Badge tone="ok" icon={Check}>
        allow
      </Badge>
    )
  if (effect === 'ask')
    return (
      <Badge tone="warn" icon={Hand}>
        ask
      </Badge>
    )
  return (
    <Badge tone="bad" icon={Ban}>
      deny
    </Badge>
  )
}
