import type { Tone } from './badge.tsx'
import styles from './plot.module.css'

/** A row of values as a small line; `label` says in words what it shows. */
export function Sparkline({ values, label, tone = 'info' }: { values: readonly number[]; label: string; tone?: Tone }) {
  const top = Math.max(1, ...values)
  const points = values.map(
    (value, index) => `${(index / Math.max(1, values.length - 1)) * 96 + 2},${22 - (value / top) * 20}`,
  )
  return (
    <svg className={styles.sparkline} viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline className={styles[tone]} points={points.join(' ')} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
