import { ShieldCheck } from 'lucide-react'
import type { PolicyRule, PolicyState } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { useSearchParam } from '../../router/router.ts'
import styles from './policy.module.css'
import { PolicyWarnings } from './policy-warnings.tsx'
import { RuleLayer } from './rule-layer.tsx'

const LAYERS = ['always', 'owner', 'defaults'] as const
const EFFECTS = [
  ['', 'Every effect'],
  ['allow', 'Allow'],
  ['ask', 'Ask'],
  ['deny', 'Deny'],
] as const

/** Every rule that holds, by the layer it comes from, and what is doubtful about them. */
export function RulesView({ state: { rules, warnings } }: { state: PolicyState }) {
  const [text, setText] = useSearchParam('text')
  const [effect, setEffect] = useSearchParam('effect')
  const shown = rules.filter((rule) => (effect === '' || rule.effect === effect) && says(rule, text))
  const clear = () => {
    setText('')
    setEffect('')
  }
  return (
    <div className={styles.view}>
      <PolicyWarnings warnings={warnings} />
      <FilterBar summary={`${shown.length} of ${rules.length} rules`}>
        <SearchField label="Search rules" value={text} onChange={setText} />
        <FilterSelect label="Effect" value={effect} options={EFFECTS} onChange={setEffect} />
      </FilterBar>
      {shown.length === 0 && (
        <EmptyState icon={ShieldCheck} title="No rule fits the filter" action={<Button onClick={clear}>Clear</Button>}>
          What no rule names is asked when it can do something, and allowed when it cannot.
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

function says({ text, source, reason = '' }: PolicyRule, wanted: string): boolean {
  return `${text} ${source} ${reason}`.toLowerCase().includes(wanted.toLowerCase())
}
