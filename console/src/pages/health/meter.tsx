// biome-ignore-all lint/a11y/useSemanticElements: every browser draws a meter in colours of its own.
import styles from './health.module.css'

interface MeterProps {
  readonly label: string
  readonly value: number
  readonly limit: number
  /** Used and limit as people say them. */
  readonly words: string
}

/** How much of something is used, as a bar and in words. */
export function Meter({ label, value, limit, words }: MeterProps) {
  const part = limit <= 0 ? 1 : Math.min(1, Math.max(0, value / limit))
  const percent = Math.round(part * 100)
  return (
    <div className={styles.meter}>
      <span>
        {words} ({percent} %)
      </span>
      <div
        className={styles.track}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={`${words}, ${percent} %`}
      >
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect className={styles.fill} data-tone={toneOf(part)} width={part * 100} height={8} />
        </svg>
      </div>
    </div>
  )
}

function toneOf(part: number): 'bad' | 'warn' | undefined {
  if (part >= 1) return 'bad'
  return part >= 0.8 ? 'warn' : undefined
}
