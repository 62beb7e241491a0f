import { VisibleText } from '../../components/visible-text.tsx'
import { type Ask, previewOf } from './ask.ts'
import styles from './deny-dialog.module.css'

type WaitingApproval = Extract<Ask, { kind: 'approval' }>

interface DenyChoicesProps {
  readonly asks: readonly WaitingApproval[]
  readonly chosen: ReadonlySet<string>
  readonly isWaiting: (id: string) => boolean
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

const MAX_PREVIEW = 300

/** The calls to choose from; one that was answered meanwhile cannot be chosen. */
export function DenyChoices({ asks, chosen, isWaiting, onChange }: DenyChoicesProps) {
  const toggle = (id: string, isChosen: boolean) =>
    onChange(new Set(isChosen ? [...chosen, id] : [...chosen].filter((each) => each !== id)))
  return (
    <ul className={styles.choices} aria-label="Calls to choose from">
      {asks.map((ask) => (
        <li key={ask.id}>
          <label className={styles.choice}>
            <input
              type="checkbox"
              checked={chosen.has(ask.id) && isWaiting(ask.id)}
              disabled={!isWaiting(ask.id)}
              onChange={({ target }) => toggle(ask.id, target.checked)}
            />
            <CallWords ask={ask} isOver={!isWaiting(ask.id)} />
          </label>
        </li>
      ))}
    </ul>
  )
}

/** The calls that were chosen, for a last look. */
export function ChosenCalls({ asks }: { asks: readonly WaitingApproval[] }) {
  return (
    <ul className={styles.choices} aria-label="Calls to deny">
      {asks.map((ask) => (
        <li key={ask.id} className={styles.choice}>
          <CallWords ask={ask} isOver={false} />
        </li>
      ))}
    </ul>
  )
}

/** Tool, agent, and what it is about. */
function CallWords({ ask, isOver }: { ask: WaitingApproval; isOver: boolean }) {
  return (
    <span className={styles.what}>
      <span>
        <VisibleText text={ask.tool} />{' '}
        <span className={styles.quiet}>
          by <VisibleText text={ask.caller} />
          {isOver && ', no longer waiting'}
        </span>
      </span>
      <code className={styles.preview}>
        <VisibleText text={previewOf(ask).slice(0, MAX_PREVIEW)} />
      </code>
    </span>
  )
}
