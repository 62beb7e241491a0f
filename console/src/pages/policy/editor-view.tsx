import { FlaskConical, Save, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { readHint } from '../../api/read-hint.ts'
import type { PolicyState } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { Button } from '../../components/button.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { useValue } from '../../state/create-value.ts'
import { EditorNotes } from './editor-notes.tsx'
import styles from './policy.module.css'
import { editDraft, type PolicyDraft, policyDraft } from './policy-draft.ts'
import { SaveDialog } from './save-dialog.tsx'
import { TestProblem } from './test-problem.tsx'
import { TestReport } from './test-report.tsx'
import { useLeaveWarning } from './use-leave-warning.ts'
import { YamlEditor } from './yaml-editor.tsx'

const COUNTS = [
  ['100', 'Latest 100 calls'],
  ['1000', 'Latest 1,000 calls'],
  ['10000', 'Latest 10,000 calls'],
] as const

/** The owner's rules as text: changed, tried on past calls, then saved. */
export function EditorView({ state }: { state: PolicyState }) {
  const mayChange = useMe().may('admin')
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

function nextStep({ isChanged, isTesting, isTested }: Record<'isChanged' | 'isTesting' | 'isTested', boolean>): string {
  if (!isChanged) return 'Nothing is changed yet.'
  if (isTesting) return 'Trying the rules on past calls …'
  return isTested ? 'Tested: look at what would change, then save.' : 'Test this text before you save it.'
}
