import { api } from '../../api/session.ts'
import { useResource } from '../../api/use-resource.ts'
import { Loaded, ViewsPage } from '../../components/resource.tsx'
import { useValue } from '../../lib/watched-value.ts'
import { EditorView } from './editor-view.tsx'
import { ExplainView } from './explain-view.tsx'
import { policyDraft } from './policy-draft.ts'
import { RulesView } from './rules-view.tsx'
import { ShadowView } from './shadow-view.tsx'
import { SuggestionsView } from './suggestions-view.tsx'

/** The effective rules, explanations of decisions, suggested rules, and an editor. */
export default function PolicyPage() {
  const query = useResource(['policy'], () => api.policy.get(), { refreshOn: ['policy-changed'] })
  const hasDraft = useValue(policyDraft) !== undefined
  return (
    <ViewsPage
      title="Policy"
      description="A deny in any layer wins. Otherwise the most specific rule decides, regardless of order."
      label="Views of the policy"
      views={[
        {
          id: 'rules',
          title: 'Effective rules',
          shortcut: ['r', 'Effective rules'],
          content: <Loaded query={query}>{(state) => <RulesView state={state} />}</Loaded>,
        },
        { id: 'explain', title: 'Explain', shortcut: ['e', 'Explain a call'], content: <ExplainView /> },
        {
          id: 'suggestions',
          title: 'Suggestions',
          shortcut: ['u', 'Suggested rules'],
          content: <Loaded query={query}>{(state) => <SuggestionsView state={state} />}</Loaded>,
        },
        {
          id: 'edit',
          title: hasDraft ? 'Edit (changed)' : 'Edit',
          shortcut: ['w', 'Edit the rules'],
          content: <Loaded query={query}>{(state) => <EditorView state={state} />}</Loaded>,
        },
        { id: 'shadow', title: 'Shadow', shortcut: ['h', 'Differences of the shadow policy'], content: <ShadowView /> },
      ]}
    />
  )
}
