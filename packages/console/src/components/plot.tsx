import { Table2 } from 'lucide-react'
import { type PointerEvent, useId, useState } from 'react'
import { classNames } from '../lib/class-names.ts'
import { formatClock } from '../lib/format.ts'
import type { Tone } from './badge.tsx'
import { IconButton } from './button.tsx'
import styles from './plot.module.css'

/** One line of a plot. */
interface Series {
  readonly name: string
  readonly tone: Tone
  readonly values: readonly number[]
  /** Dashed, so that it can be told from the others without color. */
  readonly isDashed?: boolean
}

/** What a plot shows. */
interface PlotProps {
  readonly title: string
  /** The time of each value; every series has as many values. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly format?: (value: number) => string
}

/** Values over time as lines. Shows the values at the pointer, and all values as a table. */
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

interface PlotLinesProps {
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly pointed: number | undefined
}

const WIDTH = 600
const HEIGHT = 120

/** The lines of a plot. Decoration: the caption and the table have the same values. */
function PlotLines({ times, series, format, pointed }: PlotLinesProps) {
  const top = niceTop(Math.max(0, ...series.flatMap(({ values }) => values)))
  const x = (index: number) => (index / Math.max(1, times.length - 1)) * WIDTH
  const y = (value: number) => HEIGHT - (value / top) * (HEIGHT - 4) - 2
  return (
    <>
      <svg className={styles.lines} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {[0, 0.5, 1].map((part) => (
          <line key={part} className={styles.guide} x1={0} x2={WIDTH} y1={y(part * top)} y2={y(part * top)} />
        ))}
        {pointed !== undefined && <line className={styles.cursor} x1={x(pointed)} x2={x(pointed)} y1={0} y2={HEIGHT} />}
        {series.map(({ name, tone, values, isDashed }) => (
          <g key={name} className={classNames(styles[tone], isDashed && styles.dashed)}>
            <path className={styles.fill} d={`M0 ${HEIGHT}${line(values, x, y)}L${WIDTH} ${HEIGHT}Z`} />
            <path d={`M${line(values, x, y).slice(1)}`} vectorEffect="non-scaling-stroke" />
          </g>
        ))}
      </svg>
      <span className={styles.top} aria-hidden="true">
        {format(top)}
      </span>
    </>
  )
}

function line(values: readonly number[], x: (index: number) => number, y: (value: number) => number): string {
  return values.map((value, index) => `L${x(index).toFixed(1)} ${y(value).toFixed(1)}`).join('')
}

// 1, 2 or 5 times a power of ten, which is easy to read.
function niceTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

/** The values of a plot as a table, newest first. */
function PlotTable({ title, times, series, format = String }: PlotProps) {
  const indexes = times.map((_, index) => index).reverse()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys.
    <section className={styles.tableArea} aria-label={`Values of ${title}`} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {indexes.map((index) => (
            <tr key={index}>
              <th scope="row">{formatClock(times[index] ?? 0)}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{format(values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** A small line of values; `label` describes it for screen readers. */
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
