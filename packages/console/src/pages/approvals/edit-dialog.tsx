import { revealText } from '@tool-hub/core/lib/escape-text'
import { Check, TriangleAlert } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { api } from '../../api/session.ts'
import type { Approval } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { ErrorNote, Note } from '../../components/note.tsx'
import { checkValue } from '../../components/schema-form/json-schema.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { VisibleText } from '../../components/text.tsx'
import { useCalm } from '../../lib/calm.ts'
import { type JsonChange, listChanges } from './answers.ts'
import styles from './approvals.module.css'
import { subjectOf } from './human-request.ts'
import { DetailBlock } from './request-parts.tsx'
import { useApprovalAnswer } from './use-answer.ts'

interface EditDialogProps {
  readonly approval: Approval
  readonly onDone: () => void
  readonly onClose: () => void
}

const MARK = /\[redacted:[a-z-]{1,40}\]/

/** Edits the arguments of a call before it is approved. The service validates them again, and records the change. */
export function EditDialog({ approval, onDone, onClose }: EditDialogProps) {
  const [value, setValue] = useState<unknown>(approval.input)
  const [isReady, setReady] = useState(true)
  const approve = useApprovalAnswer(approval, onDone)
  const subject = useMemo(() => subjectOf(approval), [approval])
  const calm = useCalm(subject)
  const changes = useMemo(() => listChanges(approval.input, value), [approval.input, value])
  const json = JSON.stringify(value) ?? ''
  const hasMark = MARK.test(json)
  const isUnsafe = revealText(json) !== json
  const send = () => void approve.submit({ decision: 'allow', remember: 'once', input: value })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isWide
      title={
        <>
          Edit and allow <VisibleText text={approval.tool} />
        </>
      }
      description="The changed call is validated and decided about again, runs once, and is recorded as changed by you."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            icon={Check}
            isBusy={approve.isBusy}
            calm={calm}
            disabled={changes.length === 0 || !isReady}
            onClick={send}
          >
            Allow with changes
          </Button>
        </>
      }
    >
      {approve.error && <ErrorNote error={approve.error} />}
      {hasMark && (
        <Note icon={TriangleAlert} tone="warn" title="A secret is hidden here.">
          <p>
            Each [redacted:…] stands for a secret that is never shown. Enter a value instead, or cancel and allow the
            call as it is.
          </p>
        </Note>
      )}
      {isUnsafe && (
        <Note icon={TriangleAlert} tone="warn" title="Some characters are hidden.">
          <p>
            The arguments contain characters that are hidden or change the order of others, which a field cannot show.
            The call itself shows them as codes.
          </p>
        </Note>
      )}
      <EditFields tool={approval.tool} value={value} onChange={setValue} onReady={setReady} />
      <DetailBlock title="What you change">
        <ChangeList changes={changes} />
      </DetailBlock>
    </Dialog>
  )
}

interface EditFieldsProps {
  readonly tool: string
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  /** Whether the text is valid JSON. */
  readonly onReady: (isReady: boolean) => void
}

/** The arguments as a form or as JSON; only as JSON if the tool no longer exists. */
function EditFields({ tool, value, onChange, onReady }: EditFieldsProps) {
  const [isJson, setJson] = useState(false)
  const tools = useResource(['tools'], () => api.tools({ hidden: true }))
  const schema = tools.data?.find((known) => known.tool === tool)?.parameters
  const problems = useMemo(() => (schema ? checkValue(schema, value) : undefined), [schema, value])
  const showsForm = schema !== undefined && !isJson
  return (
    <div className={styles.block}>
      {schema && (
        <fieldset className={styles.buttons} aria-label="How to edit">
          <Button
            size="small"
            aria-pressed={showsForm}
            variant={showsForm ? 'secondary' : 'quiet'}
            onClick={() => setJson(false)}
          >
            Form
          </Button>
          <Button
            size="small"
            aria-pressed={!showsForm}
            variant={showsForm ? 'quiet' : 'secondary'}
            onClick={() => setJson(true)}
          >
            JSON
          </Button>
        </fieldset>
      )}
      {showsForm && <SchemaForm schema={schema} value={value} onChange={onChange} problems={problems} />}
      {!showsForm && <JsonEditor value={value} onChange={onChange} onReady={onReady} />}
    </div>
  )
}

interface JsonEditorProps {
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  readonly onReady: (isReady: boolean) => void
}

/** A value as JSON text. While it is not valid JSON, the value does not change and cannot be sent. */
function JsonEditor({ value, onChange, onReady }: JsonEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2) ?? '')
  const problem = problemOf(text)
  useEffect(() => {
    onReady(problem === undefined)
    return () => onReady(true)
  }, [problem, onReady])
  const change = (next: string) => {
    setText(next)
    if (problemOf(next) === undefined) onChange(JSON.parse(next))
  }
  return (
    <Field label="Arguments as JSON" problem={problem}>
      {(control) => (
        <textarea
          {...control}
          className={`${control.className} ${styles.editor}`}
          rows={Math.min(20, Math.max(6, text.split('\n').length + 1))}
          spellCheck={false}
          value={text}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Field>
  )
}

function problemOf(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `Not valid JSON: ${(error as Error).message}`
  }
}

/** The changes of the arguments, before and after. */
function ChangeList({ changes }: { changes: readonly JsonChange[] }) {
  if (changes.length === 0) return <p className={styles.none}>There are no changes yet.</p>
  return (
    <ul className={styles.changes} aria-label="Your changes">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <code className={styles.path}>
            <VisibleText text={path === '' ? 'the whole value' : path} />
          </code>
          {before !== undefined && (
            <del className={styles.before}>
              <VisibleText text={write(before)} />
            </del>
          )}
          {after === undefined ? (
            <span className={styles.none}>removed</span>
          ) : (
            <ins className={styles.after}>
              <VisibleText text={write(after)} />
            </ins>
          )}
        </li>
      ))}
    </ul>
  )
}

function write(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
