import { api } from '../../api/api.ts'
import type { PolicyRule } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { EffectBadge } from '../../components/effect-badge.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/visible-text.tsx'

const COLUMNS: readonly Column<PolicyRule>[] = [
  {
    id: 'effect',
    title: 'Effect',
    width: '96px',
    narrow: 'side',
    cell: ({ effect }) => <EffectBadge effect={effect} />,
  },
  {
    id: 'rule',
    title: 'Rule',
    width: 'minmax(200px, 2fr)',
    narrow: 'title',
    cell: ({ text }) => <VisibleText text={text} />,
  },
  {
    id: 'reason',
    title: 'Reason',
    width: 'minmax(120px, 1fr)',
    cell: ({ reason = '' }) => <VisibleText text={reason} />,
  },
  { id: 'layer', title: 'Layer', width: '96px', cell: ({ layer }) => layer },
  { id: 'source', title: 'Source', width: 'minmax(120px, 1fr)', cell: ({ source }) => <VisibleText text={source} /> },
]

/** The rules that hold, in the order of precedence. */
export default function PolicyPage() {
  const query = useQuery('policy', () => api.policy.get(), { refreshOn: ['policy-changed'] })
  return (
    <Page title="Policy" fill>
      <Loaded query={query}>
        {({ rules }) => (
          <Table
            label="Rules"
            rows={rules}
            columns={COLUMNS}
            rowKey={(rule) => `${rule.layer} ${rule.source} ${rules.indexOf(rule)}`}
          />
        )}
      </Loaded>
    </Page>
  )
}
