import { Table2 } from 'lucide-react'
import { type PointerEvent, useId, useState } from 'react'
import type { Tone } from './badge.tsx'
import { classNames } from './class-names.ts'
import { formatClock } from './format-clock.ts'
import { IconButton } from './icon-button.tsx'
import styles from './plot.module.css'
import { PlotLines } from './plot-lines.tsx'
import { PlotTable } from './plot-table.tsx'

/** One line of a plot. */
export interface Series {
  readonly name: string
  readonly tone: Tone
  readonly values: readonly number[]
  /** Drawn with gaps, so that it is told from the others without its colour. */
  readonly isDashed?: boolean
}

/** What a plot shows. */
export interface PlotProps {
  readonly title: string
  /** When each value was; as many as every series has. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly format?: (value: number) => string
}

/** Values over time as lines; the values under the pointer are told, and all of them as a table. */
export function Plot({ title, times, series, format = (value) => value.toLocaleString('en') }: PlotProps) {
  const [isTable, setTable] = useState(false)
  const [pointed, setPointed] = useState<number>()
  const id = useId()
  const at = pointed ?? times.length - 1
  const point = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const part = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width))
    setPointed(Math.round(part * (times.length - 1)))
  }
  return (
    <figure className={styles.plot} aria-labelledby={id}>
      <figcaption className={styles.caption}>
        <span id={id} className={styles.title}>
          {title}
        </span>
        {series.map(({ name, tone, values, isDashed }) => (
          <span key={name} className={styles.value}>
            <svg viewBox="0 0 12 4" aria-hidden="true" className={styles.swatch}>
              <path d="M0 2h12" className={classNames(styles[tone], isDashed && styles.dashed)} />
            </svg>
            {name} <strong>{format(values[at] ?? 0)}</strong>
          </span>
        ))}
        <span className={styles.at}>{times[at] === undefined ? '' : formatClock(times[at])}</span>
        <IconButton
          size="small"
          icon={Table2}
          label={isTable ? 'Show as lines' : 'Show as a table'}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        />
      </figcaption>
      {isTable && <PlotTable title={title} times={times} series={series} format={format} />}
      {!isTable && (
        <div className={styles.area} onPointerMove={point} onPointerLeave={() => setPointed(undefined)}>
          <PlotLines times={times} series={series} format={format} pointed={pointed} />
        </div>
      )}
    </figure>
  )
}
