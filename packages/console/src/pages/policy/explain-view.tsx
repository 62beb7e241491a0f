import { MessageCircleQuestionMark } from 'lucide-react'
import { useEffect, useState } from 'react'
import { api } from '../../api/session.ts'
import type { PolicyExplanation, ToolEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { EffectBadge } from '../../components/badge.tsx'
import { Button, CopyButton } from '../../components/button.tsx'
import { Facts } from '../../components/details.tsx'
import { Field, SuggestInput } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { Section } from '../../components/page.tsx'
import { firstValue } from '../../components/schema-form/json-schema.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { Code, VisibleText } from '../../components/text.tsx'
import { useSearchParam } from '../../router/router.ts'
import styles from './policy.module.css'

/** The decision about a call and its reason, without making the call. */
export function ExplainView() {
  const [tool, setTool] = useSearchParam('tool')
  const [input, setInput] = useState<unknown>({})
  const [isValid, setValid] = useState(true)
  const [isBusy, setBusy] = useState(false)
  const [answer, setAnswer] = useState<PolicyExplanation>()
  const [error, setError] = useState<Error>()
  const tools = useResource(['tools'], () => api.tools({ hidden: true }), { refreshOn: ['tools-changed'] })
  const known = tools.data?.find((each) => each.tool === tool || each.name === tool)

  const explain = async () => {
    setBusy(true)
    setError(undefined)
    try {
      setAnswer(await api.policy.explain({ tool, input: input ?? {} }))
    } catch (failure) {
      setAnswer(undefined)
      setError(failure as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className={styles.columns}>
      <Section title="A call">
        <form
          className={styles.view}
          aria-label="Explain a call"
          onSubmit={(event) => {
            event.preventDefault()
            void explain()
          }}
        >
          <Field label="Tool" description="Its name, or the name that models use." isRequired>
            {(control) => (
              <SuggestInput
                {...control}
                value={tool}
                onChange={setTool}
                placeholder="core/fs.readText"
                suggestions={(tools.data ?? []).map((each) => ({ value: each.tool, about: each.description }))}
              />
            )}
          </Field>
          <ArgumentsField key={known?.tool} tool={known} onChange={setInput} onValid={setValid} />
          <div className={styles.row}>
            <Button type="submit" variant="primary" isBusy={isBusy} disabled={tool.trim() === '' || !isValid}>
              Explain
            </Button>
            <span className={styles.muted}>The call is not made.</span>
          </div>
        </form>
      </Section>
      <Section title="Answer">
        <div aria-live="polite" className={styles.view}>
          {error && <ErrorState error={error} onRetry={explain} />}
          {!error && answer && <ExplainAnswer answer={answer} />}
          {!error && !answer && (
            <EmptyState icon={MessageCircleQuestionMark} title="Why is a call allowed or denied?">
              Select a tool and its arguments, and press Explain to see the rule that decides, where it is defined, and
              what would change the decision.
            </EmptyState>
          )}
        </div>
      </Section>
    </div>
  )
}

const MEANS = {
  allow: 'It would run.',
  ask: 'It would require approval first.',
  deny: 'It would be refused.',
} as const

/** A decision: what happens, by which rule, where the rule is, and what would change it. */
function ExplainAnswer({ answer: { effect, rule, source, reason, targets, risks = [], text, fix } }: AnswerProps) {
  return (
    <>
      <div className={styles.row}>
        <EffectBadge effect={effect} />
        <strong>{MEANS[effect]}</strong>
      </div>
      <Facts
        facts={[
          [
            'Rule',
            <code key="rule">
              <VisibleText text={rule} />
            </code>,
          ],
          [
            'Source',
            <code key="source">
              <VisibleText text={source} />
            </code>,
          ],
          ['Reason', <VisibleText key="reason" text={reason} />],
          ['Targets', targets.length > 0 && <Targets targets={targets} />],
        ]}
      />
      {risks.length > 0 && (
        <Note tone="warn" title="Risks of this call">
          {risks.map((risk) => (
            <p key={risk}>
              <VisibleText text={`${risk}.`} />
            </p>
          ))}
        </Note>
      )}
      {fix !== undefined && (
        <Note tone="info" title="What would change it">
          <div className={styles.fix}>
            <span>
              <VisibleText text={fix} />
            </span>
            <CopyButton text={fix} label="Copy the fix" />
          </div>
        </Note>
      )}
      <Code text={text} label="Explanation" />
    </>
  )
}

interface AnswerProps {
  readonly answer: PolicyExplanation
}

function Targets({ targets }: Pick<PolicyExplanation, 'targets'>) {
  return (
    <ul className={styles.list}>
      {targets.map(({ capability, value }) => (
        <li key={`${capability} ${value}`}>
          <code>
            <VisibleText text={`${capability} ${value}`} />
          </code>
        </li>
      ))}
    </ul>
  )
}

interface ArgumentsFieldProps {
  /** The tool of the arguments; without one they are written as JSON. */
  readonly tool: ToolEntry | undefined
  readonly onChange: (input: unknown) => void
  readonly onValid: (isValid: boolean) => void
}

/** The arguments of a call, as a form or as JSON. */
function ArgumentsField({ tool, onChange, onValid }: ArgumentsFieldProps) {
  const [isJson, setJson] = useState(tool === undefined)
  const [value, setValue] = useState<unknown>(() => (tool ? firstValue(tool.parameters, tool.parameters) : {}))
  const [text, setText] = useState('{}')
  const problem = isJson ? problemOf(text) : undefined

  // The form of another tool starts with its own initial values.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it appears; afterwards `change` tells.
  useEffect(() => {
    onChange(value)
    onValid(true)
  }, [])

  const change = (next: unknown) => {
    setValue(next)
    onChange(next)
  }
  const write = (next: string) => {
    setText(next)
    const isWrong = problemOf(next) !== undefined
    onValid(!isWrong)
    if (!isWrong) change(next.trim() === '' ? {} : JSON.parse(next))
  }
  const swap = () => {
    if (!isJson) setText(JSON.stringify(value ?? {}, null, 2))
    setJson(!isJson)
  }
  return (
    <>
      {isJson && (
        <Field label="Arguments" description="As JSON." problem={problem}>
          {(control) => (
            <textarea
              {...control}
              className={`${control.className} ${styles.mono}`}
              rows={6}
              spellCheck={false}
              value={text}
              onChange={({ target }) => write(target.value)}
            />
          )}
        </Field>
      )}
      {!isJson && tool && <SchemaForm schema={tool.parameters} value={value} onChange={change} />}
      {tool && (
        <div>
          <Button size="small" variant="quiet" disabled={problem !== undefined} onClick={swap}>
            {isJson ? 'Use the form' : 'Write as JSON'}
          </Button>
        </div>
      )}
    </>
  )
}

function problemOf(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `Not valid JSON: ${(error as Error).message}`
  }
}
