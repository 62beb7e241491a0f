import { formatClock } from './format-clock.ts'
import styles from './plot.module.css'
import type { PlotProps } from './plot.tsx'

/** The values of a plot for those who cannot, or would rather not, see lines; newest first. */
export function PlotTable({ title, times, series, format = String }: PlotProps) {
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
