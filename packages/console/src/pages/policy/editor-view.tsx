import { FlaskConical, Save, Undo2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { api, readHint, useMe } from '../../api/session.ts'
import type { PolicyState, ToolEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { FilterSelect } from '../../components/filters.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/text.tsx'
import { useCalm } from '../../lib/calm.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { useValue } from '../../lib/watched-value.ts'
import styles from './policy.module.css'
import { editDraft, type PolicyDraft, policyDraft, rebaseDraft } from './policy-draft.ts'
import type { KnownTool } from './rule-completions.ts'
import { SaveDialog } from './save-dialog.tsx'
import { TestReport } from './test-report.tsx'
import { findLine } from './text-edits.ts'
import { YamlEditor } from './yaml-editor.tsx'

const COUNTS = [
  ['100', 'Latest 100 calls'],
  ['1000', 'Latest 1,000 calls'],
  ['10000', 'Latest 10,000 calls'],
] as const

/** The rules of the owner as text: edited, tested on past calls, then saved. */
export function EditorView({ state }: { state: PolicyState }) {
  const mayChange = useMe().may('admin')
  const tools = useResource(['tools'], () => api.tools({ hidden: true }), { refreshOn: ['tools-changed'] })
  const draft: PolicyDraft = useValue(policyDraft) ?? { yaml: state.yaml, base: state }
  const [count, setCount] = useState('1000')
  const [isTesting, setTesting] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const [problem, setProblem] = useState<{ readonly yaml: string; readonly error: Error }>()
  const [line, setLine] = useState<number>()
  const isChanged = draft.yaml !== draft.base.yaml
  const report = draft.tested?.yaml === draft.yaml ? draft.tested.report : undefined
  const maySave = mayChange && state.readOnly === undefined && report !== undefined && !isTesting
  useLeaveWarning(isChanged)

  const test = async () => {
    if (!isChanged || isTesting) return
    const { yaml } = draft
    setTesting(true)
    setProblem(undefined)
    try {
      const found = await api.policy.test({ yaml, calls: Number(count) })
      const current = policyDraft.get()
      if (current) policyDraft.set({ ...current, tested: { yaml, report: found } })
    } catch (error) {
      setProblem({ yaml, error: error as Error })
    } finally {
      setTesting(false)
    }
  }
  const save = () => maySave && setSaving(true)
  const discard = () => {
    policyDraft.set(undefined)
    setProblem(undefined)
  }
  useShortcut('t', 'Test on past calls', test, { when: isChanged })
  useShortcut('s', 'Save the rules', save, { when: maySave })

  return (
    <div className={styles.view}>
      <EditorNotes state={state} draft={draft} mayChange={mayChange} />
      <YamlEditor
        label={`Rules of ${state.file ?? 'the owner'} as YAML`}
        value={draft.yaml}
        onChange={(yaml) => editDraft(draft, yaml)}
        onSubmit={test}
        goTo={line}
        onGone={() => setLine(undefined)}
        tools={(tools.data ?? []).map(knownTool)}
      />
      <div className={styles.row}>
        <Button icon={FlaskConical} isBusy={isTesting} disabled={!isChanged} shortcut="t" onClick={test}>
          Test on past calls
        </Button>
        <FilterSelect label="How many calls" value={count} options={COUNTS} onChange={setCount} />
        <Button variant="primary" icon={Save} disabled={!maySave} shortcut="s" onClick={save}>
          Save
        </Button>
        {isChanged && (
          <Button variant="quiet" icon={Undo2} onClick={discard}>
            Discard changes
          </Button>
        )}
        <span className={styles.muted} role="status">
          {nextStep({ isChanged, isTesting, isTested: report !== undefined })}
        </span>
      </div>
      {problem?.yaml === draft.yaml && (
        <TestProblem error={problem.error} hint={readHint(problem.error)} onGoTo={setLine} />
      )}
      {report && <TestReport report={report} />}
      <SaveDialog isOpen={isSaving} onClose={() => setSaving(false)} draft={draft} />
    </div>
  )
}

function knownTool({ tool, parameters }: ToolEntry): KnownTool {
  const { properties } = parameters as { readonly properties?: object }
  return { name: tool, arguments: Object.keys(properties ?? {}) }
}

function nextStep({ isChanged, isTesting, isTested }: Record<'isChanged' | 'isTesting' | 'isTested', boolean>): string {
  if (!isChanged) return 'There are no changes yet.'
  if (isTesting) return 'Testing the rules on past calls …'
  return isTested ? 'Tested: review what would change, then save.' : 'Test this text before you save it.'
}

interface EditorNotesProps {
  readonly state: PolicyState
  readonly draft: PolicyDraft
  readonly mayChange: boolean
}

/** Why the rules cannot be saved, such as after a change by somebody else. */
function EditorNotes({ state, draft, mayChange }: EditorNotesProps) {
  const calm = useCalm(`${draft.base.version} ${state.version}`)
  return (
    <>
      {state.readOnly !== undefined && (
        <Note tone="warn" title="These rules cannot be saved here">
          <p>
            <VisibleText text={state.readOnly} />
          </p>
          <p>You can still change the text and test it on past calls.</p>
        </Note>
      )}
      {!mayChange && (
        <Note tone="warn" title="You can test, but not save">
          <p>
            Saving needs the scope <code>admin</code>. Sign in with the token that <code>tool-hub serve</code> printed,
            or create one: <code>tool-hub tokens add NAME --scopes read,admin</code>
          </p>
        </Note>
      )}
      {draft.base.version !== state.version && (
        <Note tone="warn" title="Somebody else has changed the rules since you began" isLive>
          <p>Your text is still here. To save it, reload the current rules and test it again.</p>
          <div className={styles.row}>
            <Button size="small" calm={calm} onClick={() => rebaseDraft(draft, state)}>
              Reload, keep my text
            </Button>
            <Button size="small" variant="quiet" calm={calm} onClick={() => policyDraft.set(undefined)}>
              Reload, discard my text
            </Button>
          </div>
        </Note>
      )}
    </>
  )
}

interface TestProblemProps {
  readonly error: Error
  readonly hint: string | undefined
  readonly onGoTo: (line: number) => void
}

/** Why the rules could not be tested, with a link to the line. */
function TestProblem({ error, hint, onGoTo }: TestProblemProps) {
  const line = findLine(error.message)
  return (
    <Note tone="bad" title="The rules could not be tested" isLive>
      <p className={styles.lines}>
        <VisibleText text={error.message} />
      </p>
      {hint !== undefined && (
        <p>
          <VisibleText text={hint} />
        </p>
      )}
      {line !== undefined && (
        <div>
          <Button size="small" onClick={() => onGoTo(line)}>
            Go to line {line}
          </Button>
        </div>
      )}
    </Note>
  )
}

/** Makes the browser ask before the tab is closed with unsaved changes. */
function useLeaveWarning(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isNeeded])
}
