import { Button } from '../../components/button.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalmShortcut } from '../../keyboard/use-calm-shortcut.ts'
import styles from './question-option.module.css'
import type { Reply } from './use-reply.ts'

/** One answer to choose; the first nine have a key. */
export function QuestionOption({ option, number, reply }: { option: string; number: number; reply: Reply }) {
  const choose = () => void reply.send({ answer: option })
  const hasKey = number <= 9
  useCalmShortcut(String(number), `Answer “${option}”`, choose, { when: hasKey })
  return (
    <Button
      className={styles.option}
      shortcut={hasKey ? String(number) : undefined}
      disabled={reply.isBusy}
      onClick={choose}
    >
      <span className={styles.words}>
        <VisibleText text={option} />
      </span>
    </Button>
  )
}
