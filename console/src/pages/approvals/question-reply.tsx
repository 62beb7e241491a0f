import { Send } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import fieldStyles from '../../components/field.module.css'
import type { Calm } from '../../keyboard/use-calm.ts'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import styles from './ask-detail.module.css'
import { QuestionOption } from './question-option.tsx'
import type { Reply } from './use-reply.ts'

interface QuestionReplyProps {
  readonly options: readonly string[]
  readonly reply: Reply
  readonly calm: Calm
}

/** One of the options by a press or its number, or words of one’s own. */
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
          if (text.trim() !== '') void reply.send({ answer: text })
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
