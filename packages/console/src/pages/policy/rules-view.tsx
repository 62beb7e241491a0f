import { ShieldCheck } from 'lucide-react'
import { Link } from 'wouter'
import type { PolicyRule, PolicyState } from '../../api/types.ts'
import { EffectBadge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { FilterBar, FilterSelect, SearchField } from '../../components/filters.tsx'
import { Note } from '../../components/note.tsx'
import { Section } from '../../components/page.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { useSearchParam } from '../../router/router.ts'
import styles from './policy.module.css'

const LAYERS = ['always', 'owner', 'defaults'] as const
const EFFECTS = [
  ['', 'Every decision'],
  ['allow', 'Allow'],
  ['ask', 'Ask'],
  ['deny', 'Deny'],
] as const

/** All effective rules by layer, and warnings about them. */
export function RulesView({ state: { rules, warnings } }: { state: PolicyState }) {
  const [text, setText] = useSearchParam('text')
  const [effect, setEffect] = useSearchParam('effect')
  const shown = rules.filter((rule) => (effect === '' || rule.effect === effect) && matchesText(rule, text))
  const clear = () => {
    setText('')
    setEffect('')
  }
  return (
    <div className={styles.view}>
      <PolicyWarnings warnings={warnings} />
      <FilterBar summary={`${shown.length} of ${rules.length} rules`}>
        <SearchField label="Search rules" value={text} onChange={setText} />
        <FilterSelect label="Decision" value={effect} options={EFFECTS} onChange={setEffect} />
      </FilterBar>
      {shown.length === 0 && (
        <EmptyState
          icon={ShieldCheck}
          title="No rule matches the filter"
          action={<Button onClick={clear}>Clear</Button>}
        >
          Without a matching rule, calls of tools with capabilities require approval; all other calls are allowed.
        </EmptyState>
      )}
      {LAYERS.map((layer) => (
        <RuleLayer
          key={layer}
          layer={layer}
          rules={shown.filter((rule) => rule.layer === layer)}
          isFiltered={shown.length < rules.length}
        />
      ))}
    </div>
  )
}

function matchesText({ text, source, reason = '' }: PolicyRule, wanted: string): boolean {
  return `${text} ${source} ${reason}`.toLowerCase().includes(wanted.toLowerCase())
}

interface RuleLayerProps {
  readonly layer: PolicyRule['layer']
  readonly rules: readonly PolicyRule[]
  readonly isFiltered: boolean
}

const ABOUT = {
  always: ['Always', 'Built in; no rule below can override them.'],
  owner: ['Yours', 'From your config; they take precedence over the defaults.'],
  defaults: ['Defaults', 'They apply unless one of your rules does.'],
} as const

const COLUMNS: readonly PlainColumn<PolicyRule>[] = [
  {
    id: 'effect',
    title: 'Decision',
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
function RuleLayer({ layer, rules, isFiltered }: RuleLayerProps) {
  const [title, about] = ABOUT[layer]
  if (rules.length === 0 && (isFiltered || layer !== 'owner')) return null
  return (
    <Section title={title} actions={<span className={styles.muted}>{about}</span>}>
      {rules.length === 0 && (
        <p className={styles.muted}>
          You have no rules yet. <Link to="/policy?view=edit">Write the first one</Link>.
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

/** Warnings about the rules, and what to do about them. */
function PolicyWarnings({ warnings }: Pick<PolicyState, 'warnings'>) {
  return warnings.map(({ level, message, source, hint }, index) => (
    <Note
      // biome-ignore lint/suspicious/noArrayIndexKey: warnings have no id, and are never reordered.
      key={index}
      tone={level === 'error' ? 'bad' : 'warn'}
      title={<VisibleText text={message} />}
    >
      {hint !== undefined && (
        <p>
          <VisibleText text={hint} />
        </p>
      )}
      <p>
        <code>
          <VisibleText text={source} />
        </code>
      </p>
    </Note>
  ))
}
