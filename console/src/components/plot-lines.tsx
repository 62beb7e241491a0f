import { classNames } from './class-names.ts'
import styles from './plot.module.css'
import type { Series } from './plot.tsx'

interface PlotLinesProps {
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly pointed: number | undefined
}

const WIDTH = 600
const HEIGHT = 120

/** The lines of a plot; decoration beside its words and its table. */
export function PlotLines({ times, series, format, pointed }: PlotLinesProps) {
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

// 1, 2 or 5 times a power of ten: a scale that is read at once.
function niceTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}
