import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'

interface TickerNotesProps {
  readonly isTicking: boolean
  readonly problems: readonly string[]
  readonly hasSchedules: boolean
}

/** What keeps schedules from running: nobody fires them, or the config has a mistake. */
export function TickerNotes({ isTicking, problems, hasSchedules }: TickerNotesProps) {
  return (
    <>
      {!isTicking && hasSchedules && (
        <Note tone="warn" title="Nothing runs at its time now.">
          <p>
            No process with this store fires schedules. <code>tool-hub serve</code> does, or{' '}
            <code>hub.schedules.start()</code> in a program.
          </p>
        </Note>
      )}
      {problems.length > 0 && (
        <Note tone="bad" title="Some schedules of the config cannot be used.">
          <ul>
            {problems.map((problem) => (
              <li key={problem}>
                <VisibleText text={problem} />
              </li>
            ))}
          </ul>
        </Note>
      )}
    </>
  )
}
