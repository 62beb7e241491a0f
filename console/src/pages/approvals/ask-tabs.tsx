import { Link } from '../../router/link.tsx'
import { pathOf } from './ask.ts'
import styles from './ask-tabs.module.css'

const TABS = [
  ['', 'Waiting'],
  ['past', 'Answered'],
] as const

/** What waits, or what waited once. */
export function AskTabs({ tab }: { tab: string }) {
  return (
    <nav className={styles.tabs} aria-label="Which approvals">
      {TABS.map(([id, title]) => (
        <Link key={id} to={pathOf(undefined, id)} className={styles.tab} aria-current={id === tab ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
