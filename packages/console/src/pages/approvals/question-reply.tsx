import { Send } from 'lucide-react'
import { useRef, useState } from 'react'
import type { Action } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import fieldStyles from '../../components/field.module.css'
import { checkValue, firstValue, type Problems } from '../../components/schema-form/json-schema.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { VisibleText } from '../../components/text.tsx'
import { type Calm, useCalmShortcut } from '../../lib/calm.ts'
import { classNames } from '../../lib/class-names.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import styles from './approvals.module.css'
import type { QuestionAnswer } from './use-answer.ts'

interface QuestionReplyProps {
  readonly options: readonly string[]
  readonly reply: Action<QuestionAnswer>
  readonly calm: Calm
}

/** One of the options, or a text. */
export function QuestionReply({ options, reply, calm }: QuestionReplyProps) {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useShortcut('i', 'Write an answer', () => field.current?.focus())
  return (
    <>
      {options.length > 0 && (
        <fieldset className={styles.buttons} aria-label="Answers to choose from">
          {options.map((option, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same words may come twice, and the order never changes.
            <QuestionOption key={index} option={option} number={index + 1} reply={reply} calm={calm} />
          ))}
        </fieldset>
      )}
      <form
        className={styles.buttons}
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '') void reply.run({ answer: text })
        }}
      >
        <input
          ref={field}
          aria-label="Your answer"
          placeholder={options.length > 0 ? 'Or in your own words' : 'Your answer'}
          className={classNames(fieldStyles.control, styles.grow)}
          maxLength={20_000}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
        />
        <Button type="submit" icon={Send} isBusy={reply.isBusy} calm={calm} disabled={text.trim() === ''}>
          Send
        </Button>
      </form>
    </>
  )
}

interface QuestionOptionProps {
  readonly option: string
  readonly number: number
  readonly reply: Action<QuestionAnswer>
  readonly calm: Calm
}

/** An option; the first nine have a key. */
function QuestionOption({ option, number, reply, calm }: QuestionOptionProps) {
  const choose = () => void reply.run({ answer: option })
  const hasKey = number <= 9
  useCalmShortcut(String(number), `Answer “${option}”`, calm, choose, { when: hasKey })
  return (
    <Button
      className={styles.answer}
      shortcut={hasKey ? String(number) : undefined}
      disabled={reply.isBusy}
      calm={calm}
      onClick={choose}
    >
      <span className={styles.answerText}>
        <VisibleText text={option} />
      </span>
    </Button>
  )
}

interface QuestionFormProps {
  readonly schema: Readonly<Record<string, unknown>>
  readonly reply: Action<QuestionAnswer>
  readonly calm: Calm
}

/** The form of a question, generated from its JSON Schema. */
export function QuestionForm({ schema, reply, calm }: QuestionFormProps) {
  const [value, setValue] = useState<unknown>(() => firstValue(schema, schema))
  const [problems, setProblems] = useState<Problems>()
  const send = () => {
    const found = checkValue(schema, value)
    setProblems(found)
    if (found.size === 0) void reply.run({ values: value as Record<string, unknown> })
  }
  return (
    <>
      <SchemaForm schema={schema} value={value} onChange={setValue} problems={problems} />
      <div className={styles.buttons}>
        <Button variant="primary" icon={Send} isBusy={reply.isBusy} calm={calm} onClick={send}>
          Send
        </Button>
      </div>
    </>
  )
}
