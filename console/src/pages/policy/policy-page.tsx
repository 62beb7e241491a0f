import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { useSearchParam } from '../../router/router.ts'
import { useValue } from '../../state/create-value.ts'
import { EditorView } from './editor-view.tsx'
import { ExplainView } from './explain-view.tsx'
import { policyDraft } from './policy-draft.ts'
import { RulesView } from './rules-view.tsx'

/** The rules that hold, why a call is decided so, and how to change them. */
export default function PolicyPage() {
  const [view, setView] = useSearchParam('view', 'rules')
  const query = useQuery('policy', () => api.policy.get(), { refreshOn: ['policy-changed'] })
  const hasDraft = useValue(policyDraft) !== undefined
  useShortcut('r', 'Effective rules', () => setView('rules'))
  useShortcut('e', 'Explain a call', () => setView('explain'))
  useShortcut('w', 'Edit the rules', () => setView('edit'))
  return (
    <Page
      title="Policy"
      description="A deny of any layer wins; else the most specific rule decides, whatever the order."
    >
      <Tabs
        label="Views of the policy"
        selected={view}
        onSelect={setView}
        tabs={[
          {
            id: 'rules',
            title: 'Effective rules',
            content: <Loaded query={query}>{(state) => <RulesView state={state} />}</Loaded>,
          },
          { id: 'explain', title: 'Explain', content: <ExplainView /> },
          {
            id: 'edit',
            title: hasDraft ? 'Edit (changed)' : 'Edit',
            content: <Loaded query={query}>{(state) => <EditorView state={state} />}</Loaded>,
          },
        ]}
      />
    </Page>
  )
}
