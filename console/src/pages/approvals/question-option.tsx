import { Button } from '../../components/button.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { type Calm, useCalmShortcut } from '../../keyboard/use-calm.ts'
import styles from './question-option.module.css'
import type { Reply } from './use-reply.ts'

interface QuestionOptionProps {
  readonly option: string
  readonly number: number
  readonly reply: Reply
  readonly calm: Calm
}

/** One answer to choose; the first nine have a key. */
export function QuestionOption({ option, number, reply, calm }: QuestionOptionProps) {
  const choose = () => void reply.send({ answer: option })
  const hasKey = number <= 9
  useCalmShortcut(String(number), `Answer “${option}”`, calm, choose, { when: hasKey })
  return (
    <Button
      className={styles.option}
      shortcut={hasKey ? String(number) : undefined}
      disabled={reply.isBusy}
      calm={calm}
      onClick={choose}
    >
      <span className={styles.words}>
        <VisibleText text={option} />
      </span>
    </Button>
  )
}
