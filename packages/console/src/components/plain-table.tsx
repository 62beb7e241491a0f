// biome-ignore-all lint/a11y/noRedundantRoles: as cards on a narrow screen the elements would lose what they are.
import type { ReactNode } from 'react'
import { classNames } from '../lib/class-names.ts'
import styles from './plain-table.module.css'

/** A column: what it shows of a row, and how. */
export interface PlainColumn<Row> {
  readonly id: string
  readonly title: string
  readonly align?: 'start' | 'end'
  /** Takes the remaining width. */
  readonly isWide?: boolean
  /** The name of the row, which is the title of its card on a narrow screen. */
  readonly isName?: boolean
  readonly cell: (row: Row) => ReactNode
}

interface PlainTableProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly PlainColumn<Row>[]
  readonly rowKey: (row: Row, index: number) => string
}

/** A short table with wrapping text; cards on a phone. Use `Table` for many rows, and for rows that can be opened. */
export function PlainTable<Row>({ label, rows, columns, rowKey }: PlainTableProps<Row>) {
  return (
    <div className={styles.area}>
      <table role="table" className={styles.table} aria-label={label}>
        <thead role="rowgroup" className={styles.head}>
          <tr role="row">
            {columns.map((column) => (
              <th key={column.id} role="columnheader" scope="col" className={cellClass(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, index) => (
            <tr key={rowKey(row, index)} role="row" className={styles.row}>
              {columns.map((column) => {
                const content = (
                  <>
                    <span className={styles.label} aria-hidden="true">
                      {column.title}
                    </span>
                    <div className={styles.content}>{column.cell(row)}</div>
                  </>
                )
                if (column.isName)
                  return (
                    <th key={column.id} role="rowheader" scope="row" className={cellClass(column)}>
                      {content}
                    </th>
                  )
                return (
                  <td key={column.id} role="cell" className={cellClass(column)}>
                    {content}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function cellClass<Row>({ align, isWide, isName }: PlainColumn<Row>): string {
  return classNames(styles.cell, align === 'end' && styles.end, isWide && styles.wide, isName && styles.name)
}
