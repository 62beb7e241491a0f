import { Lightbulb, Plus } from 'lucide-react'
import { Link } from 'wouter'
import { api } from '../../api/session.ts'
import type { PolicyState, PolicySuggestions } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { Button } from '../../components/button.tsx'
import { Facts } from '../../components/details.tsx'
import { FilterBar, FilterSelect } from '../../components/filters.tsx'
import { Note } from '../../components/note.tsx'
import { Section } from '../../components/page.tsx'
import { Loaded } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Code, VisibleText } from '../../components/text.tsx'
import { showToast } from '../../components/toast.tsx'
import { useValue } from '../../lib/watched-value.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import styles from './policy.module.css'
import { type PolicyDraft, policyDraft } from './policy-draft.ts'
import { appendRules } from './text-edits.ts'

type Suggestion = PolicySuggestions['rules'][number]

const ALL = 'all'
const TIMES = [
  ['7d', 'Approvals of 7 days'],
  ['30d', 'Approvals of 30 days'],
  [ALL, 'All approvals'],
] as const
const MAX_CALLS = 5

/** Rules that would have made approvals unnecessary, to be added to the draft of the rules. */
export function SuggestionsView({ state }: { state: PolicyState }) {
  const [since, setSince] = useSearchParam('since', '30d')
  const query = useResource(['suggestions', since], () => api.policy.suggest(since === ALL ? {} : { since }), {
    refreshOn: ['policy-changed'],
  })
  return (
    <div className={styles.view}>
      <FilterBar summary={query.data ? comparedWith(query.data) : 'Reading the records …'}>
        <FilterSelect label="Which approvals count" value={since} options={TIMES} onChange={setSince} />
      </FilterBar>
      <Loaded query={query}>{(found) => <Found found={found} state={state} />}</Loaded>
    </div>
  )
}

function comparedWith({ approvals, calls, runs }: PolicySuggestions): string {
  return `${count(approvals, 'approval')}; rules are compared with ${count(calls, 'call')} of ${count(runs, 'run')}`
}

function Found({ found, state }: { found: PolicySuggestions; state: PolicyState }) {
  const { rules, approvals, withheld, left, unreadable } = found
  return (
    <>
      {unreadable.length > 0 && <Unreadable unreadable={unreadable} />}
      {withheld.length > 0 && (
        <Note tone="info" title="Some tools get no suggestion">
          <p>
            <VisibleText text={withheld.join(', ')} />: the record lacks the arguments of a call that was not approved,
            because they were too large or contained a secret. A rule could let that call through.
          </p>
        </Note>
      )}
      {rules.length === 0 && unreadable.length === 0 && (
        <EmptyState icon={Lightbulb} title="There is nothing to suggest">
          {approvals === 0
            ? 'Nobody has approved a call in this time. A rule is suggested when people have approved similar calls at least twice.'
            : 'No rule would safely save two or more of these approvals.'}
        </EmptyState>
      )}
      {left.length > 0 && unreadable.length === 0 && (
        <Note tone="info" title="Why other approvals have no rule">
          <ul className={styles.list}>
            {left.map(({ reason, approvals: number }) => (
              <li key={reason}>
                {count(number, 'approval')}: {reason}
              </li>
            ))}
          </ul>
        </Note>
      )}
      {rules.length > 0 && (
        <p className={styles.muted}>
          Each rule was tried on all recorded calls of its tool: none that was denied, or that nobody approved, would
          run by it. Rules may overlap; a wider one below also covers what a narrower one does.
        </p>
      )}
      {rules.map((suggestion) => (
        <SuggestionCard key={suggestion.yaml.join('\n')} suggestion={suggestion} state={state} />
      ))}
    </>
  )
}

function Unreadable({ unreadable }: Pick<PolicySuggestions, 'unreadable'>) {
  return (
    <Note tone="warn" title="Nothing is suggested while records cannot be read" isLive>
      <p>A denied call may stand there, and a rule could let it through.</p>
      <ul className={styles.list}>
        {unreadable.slice(0, MAX_CALLS).map(({ run, reason }) => (
          <li key={run}>
            <Link to={runPath(run)}>
              <VisibleText text={run} />
            </Link>
            : <VisibleText text={reason} />
          </li>
        ))}
      </ul>
      {unreadable.length > MAX_CALLS && <p>and {count(unreadable.length - MAX_CALLS, 'other run')}</p>}
      <p>
        <Link to="/audit">Verify the records</Link>
      </p>
    </Note>
  )
}

/** One suggestion, and the button that adds it to the draft. */
function SuggestionCard({ suggestion, state }: { suggestion: Suggestion; state: PolicyState }) {
  const { yaml, saves, calls, open } = suggestion
  const draft: PolicyDraft = useValue(policyDraft) ?? { yaml: state.yaml, base: state }
  const isAdded = yaml.every((rule) => draft.yaml.includes(rule))
  const add = () => {
    policyDraft.set({ ...draft, yaml: appendRules(draft.yaml, yaml) })
    navigate('/policy?view=edit')
    showToast({ title: 'Added to your text', description: 'Test it on past calls, then save it.' })
  }
  return (
    <Section
      title={`Saves ${count(saves, 'approval')}`}
      actions={
        isAdded ? (
          <Link to="/policy?view=edit">It is in your text</Link>
        ) : (
          <Button size="small" icon={Plus} onClick={add}>
            Add to the policy
          </Button>
        )
      }
    >
      <Code label="Rule" text={yaml.map((rule) => `- ${rule}`).join('\n')} />
      <Facts
        facts={[
          ['Does not restrict', open.length > 0 && <VisibleText key="open" text={open.join(', ')} />],
          ['Approved calls', <ApprovedCalls key="calls" calls={calls} saves={saves} />],
        ]}
      />
    </Section>
  )
}

function ApprovedCalls({ calls, saves }: Pick<Suggestion, 'calls' | 'saves'>) {
  const shown = calls.slice(0, MAX_CALLS)
  return (
    <ul className={styles.list}>
      {shown.map(({ run, callId }) => (
        <li key={`${run} ${callId}`}>
          <Link to={runPath(run, callId)}>
            <VisibleText text={`${callId} of ${run}`} />
          </Link>
        </li>
      ))}
      {saves > shown.length && <li>and {(saves - shown.length).toLocaleString('en')} more</li>}
    </ul>
  )
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}
