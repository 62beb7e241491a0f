import type { PolicyRule } from '../../api/types.ts'
import { EffectBadge } from '../../components/effect-badge.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { Section } from '../../components/section.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './policy.module.css'

interface RuleLayerProps {
  readonly layer: PolicyRule['layer']
  readonly rules: readonly PolicyRule[]
  readonly isFiltered: boolean
}

const ABOUT = {
  always: ['Always', 'Built in; no rule below can lift them.'],
  owner: ['Yours', 'From your config; they come before the defaults.'],
  defaults: ['Defaults', 'What holds where no rule of yours says otherwise.'],
} as const

const COLUMNS: readonly PlainColumn<PolicyRule>[] = [
  {
    id: 'effect',
    title: 'Effect',
    cell: ({ effect }) => (
      <div className={styles.effect}>
        <EffectBadge effect={effect} />
      </div>
    ),
  },
  {
    id: 'rule',
    title: 'Rule',
    isName: true,
    isWide: true,
    cell: ({ text, reason }) => (
      <>
        <code className={styles.rule}>
          <VisibleText text={text} />
        </code>
        {reason !== undefined && (
          <p className={styles.reason}>
            <VisibleText text={reason} />
          </p>
        )}
      </>
    ),
  },
  {
    id: 'source',
    title: 'Source',
    align: 'end',
    cell: ({ source }) => (
      <code className={styles.source}>
        <VisibleText text={source} />
      </code>
    ),
  },
]

/** The rules of one layer. */
export function RuleLayer({ layer, rules, isFiltered }: RuleLayerProps) {
  const [title, about] = ABOUT[layer]
  if (rules.length === 0 && (isFiltered || layer !== 'owner')) return null
  return (
    <Section title={title} actions={<span className={styles.muted}>{about}</span>}>
      {rules.length === 0 && (
        <p className={styles.muted}>
          No rules of yours yet. <Link to="/policy?view=edit">Write the first one</Link>.
        </p>
      )}
      {rules.length > 0 && (
        <PlainTable
          label={`Rules: ${title.toLowerCase()}`}
          rows={rules}
          columns={COLUMNS}
          rowKey={({ source }, index) => `${source} ${index}`}
        />
      )}
    </Section>
  )
}
