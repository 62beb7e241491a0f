import type { Health } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { formatBytes } from '../../components/format-bytes.ts'
import { formatDuration } from '../../components/format-duration.ts'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { Section } from '../../components/section.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './health.module.css'
import { Meter } from './meter.tsx'

type Budget = Health['budgets'][number]

const UNITS = new Map<string, readonly [words: string, format: (value: number) => string]>([
  ['calls', ['calls', (value) => value.toLocaleString('en')]],
  ['wallMs', ['tool time', formatDuration]],
  ['bytes', ['bytes', formatBytes]],
  ['cost', ['cost', (value) => value.toLocaleString('en')]],
])

const COLUMNS: readonly PlainColumn<Budget>[] = [
  { id: 'account', title: 'Whose', isName: true, cell: ({ account }) => <VisibleText text={account} /> },
  { id: 'unit', title: 'Of', cell: ({ unit }) => wordsOf(unit)[0] },
  {
    id: 'used',
    title: 'Used today',
    isWide: true,
    cell: ({ account, unit, used, limit }) => {
      const [words, format] = wordsOf(unit)
      return (
        <Meter
          label={`${words} used by ${account}`}
          value={used}
          limit={limit}
          words={`${format(used)} of ${format(limit)}`}
        />
      )
    },
  },
  { id: 'state', title: 'State', cell: (budget) => stateOf(budget) },
]

/** What each token may use a day, and how much of it is gone. */
export function BudgetSection({ budgets }: Pick<Health, 'budgets'>) {
  return (
    <Section title="Budgets" actions={<span className={styles.about}>a day</span>}>
      {budgets.length === 0 && (
        <p className={styles.muted}>
          No token has a budget. Give one with <code>tool-hub tokens add NAME --budget calls=1000,time=10m</code>, or
          when you make a token on the Tokens page.
        </p>
      )}
      {budgets.length > 0 && (
        <PlainTable
          label="Budgets"
          rows={budgets}
          columns={COLUMNS}
          rowKey={({ account, unit }) => `${account} ${unit}`}
        />
      )}
    </Section>
  )
}

function wordsOf(unit: string): readonly [words: string, format: (value: number) => string] {
  return UNITS.get(unit) ?? [unit, (value) => value.toLocaleString('en')]
}

function stateOf({ used, limit }: Budget) {
  if (used >= limit) return <Badge tone="bad">used up</Badge>
  return used >= limit * 0.8 ? <Badge tone="warn">nearly used up</Badge> : <Badge tone="ok">enough left</Badge>
}
