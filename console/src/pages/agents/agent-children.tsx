import type { AgentStatus } from '../../api/types.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import { agentPath } from './agent-path.ts'
import { AgentState } from './agent-state.tsx'
import styles from './agents.module.css'

/** Sessions in a few words each. */
export function AgentChildren({ agents, label }: { agents: AgentStatus['children']; label: string }) {
  return (
    <ul className={styles.list} aria-label={label}>
      {agents.map(({ id, label, state, runner }) => (
        <li key={id} className={styles.entry}>
          <AgentState state={state} />
          <Link to={agentPath(id)}>
            <VisibleText text={label ?? id} />
          </Link>
          {runner !== undefined && (
            <span className={styles.muted}>
              <VisibleText text={runner} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
