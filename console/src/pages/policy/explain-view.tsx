import { MessageCircleQuestionMark } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import type { PolicyExplanation } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Field } from '../../components/field.tsx'
import { Section } from '../../components/section.tsx'
import { SuggestInput } from '../../components/suggest-input.tsx'
import { useSearchParam } from '../../router/router.ts'
import { ArgumentsField } from './arguments-field.tsx'
import { ExplainAnswer } from './explain-answer.tsx'
import styles from './policy.module.css'

/** What policy would say to a call, and why, without making it. */
export function ExplainView() {
  const [tool, setTool] = useSearchParam('tool')
  const [input, setInput] = useState<unknown>({})
  const [isValid, setValid] = useState(true)
  const [isBusy, setBusy] = useState(false)
  const [answer, setAnswer] = useState<PolicyExplanation>()
  const [error, setError] = useState<Error>()
  const tools = useQuery('tools', () => api.tools({ hidden: true }), { refreshOn: ['tools-changed'] })
  const known = tools.data?.find((each) => each.tool === tool || each.name === tool)

  const ask = async () => {
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
            void ask()
          }}
        >
          <Field label="Tool" description="Its name here, or as models call it." isRequired>
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
            <span className={styles.muted}>Nothing is called.</span>
          </div>
        </form>
      </Section>
      <Section title="Answer">
        <div aria-live="polite" className={styles.view}>
          {error && <ErrorState error={error} onRetry={ask} />}
          {!error && answer && <ExplainAnswer answer={answer} />}
          {!error && !answer && (
            <EmptyState icon={MessageCircleQuestionMark} title="Why is a call allowed, asked or denied?">
              Choose a tool and its arguments, and press Explain: you see the rule that decides, where it is written,
              and what would change it.
            </EmptyState>
          )}
        </div>
      </Section>
    </div>
  )
}
