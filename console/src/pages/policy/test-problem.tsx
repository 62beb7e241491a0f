import { Button } from '../../components/button.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { findLine } from './find-line.ts'
import styles from './policy.module.css'

interface TestProblemProps {
  readonly error: Error
  readonly hint: string | undefined
  readonly onGoTo: (line: number) => void
}

/** Why rules cannot be read, with the way to the line. */
export function TestProblem({ error, hint, onGoTo }: TestProblemProps) {
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
